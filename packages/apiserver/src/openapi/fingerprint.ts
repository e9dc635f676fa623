import { base64Text, hexText } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import { isLargeValue, runAtOnce, type Work } from '@krmkit/base/work'
import type { ResourceDefinition, ResourceInfo } from '@krmkit/kinds'
import type { NamingProfile } from '@krmkit/meta'
import { stringifyJson, type TypeSource } from '@krmkit/schema'
import * as paced from '@krmkit/schema/paced'
import type { CustomForm } from './published.ts'

/**
 * Entity tags computed from the inputs of a document, so that a change is detected without building the document. Inputs are the version of
 * the server, the built-in types, the naming profile, and the published parts of each resource. Servers with the same content have the same
 * tags, even after a restart.
 */

/**
 * Revision of the document content. Increment it with every change that gives the same resources other documents; otherwise a test fails.
 */
export const documentRevision = 4

export interface FingerprintOptions {
  readonly types: TypeSource
  /** Version of the server. */
  readonly version: string
  /** Whether values of enums are listed. Default true. */
  readonly enums?: boolean
  /** Whether media types of CBOR are listed. Default false. */
  readonly cbor?: boolean
  readonly profile: NamingProfile
  readonly customForm: (definition: ResourceDefinition) => CustomForm | undefined
}

export class Fingerprints {
  readonly #options: FingerprintOptions
  readonly #ofDefinitions = new WeakMap<ResourceDefinition, string>()
  readonly #ofSchemas = new WeakMap<object, string>()
  #serverDigest: string | undefined

  constructor(options: FingerprintOptions) {
    this.#options = options
  }

  /** The entity tag of a document of these resources: SHA-512 in upper-case hexadecimal digits. */
  document(name: string, definitions: readonly ResourceDefinition[]): string {
    this.#serverDigest ??= this.#computeServerDigest()
    const known = definitions.map((definition) => runAtOnce(this.definition(definition)))
    return combinedTag([this.#serverDigest, name, ...known])
  }

  /** The digest of the published parts of a resource, cached. Takes time in proportion to the schema. */
  *definition(definition: ResourceDefinition): Work<string> {
    const cached = this.#ofDefinitions.get(definition)
    if (cached !== undefined) return cached
    const { group, version, kind, strategy, resource, subresources } = definition
    const form = this.#options.customForm(definition)
    const schema = form?.schema === undefined ? '' : yield* this.#schema(form.schema)
    const fingerprint = digestOf(
      JSON.stringify([
        group,
        version,
        kind.kind,
        kind.listKind,
        strategy.deleteResponse ?? '',
        publishedInfo(resource),
        subresources.map(publishedInfo),
        form === undefined ? null : [schema, form.preserveUnknownFields === true, form.selectableFields ?? []],
      ]),
    )
    this.#ofDefinitions.set(definition, fingerprint)
    return fingerprint
  }

  *#schema(schema: object): Work<string> {
    const cached = this.#ofSchemas.get(schema)
    if (cached !== undefined) return cached
    const fingerprint = digestOf(isLargeValue(schema) ? yield* paced.stringifyJson(schema) : stringifyJson(schema))
    this.#ofSchemas.set(schema, fingerprint)
    return fingerprint
  }

  #computeServerDigest(): string {
    const { profile, types, version, enums = true, cbor = false } = this.#options
    const variants = [...(enums ? [] : ['without enums']), ...(cbor ? ['with CBOR'] : [])]
    const texts = hasTexts(types) ? types.folders.map((folder) => digestOf(types.text(folder))) : []
    return digestOf(JSON.stringify([documentRevision, version, profile, texts, ...variants]))
  }
}

/** The tag of a combination of parts. */
export function combinedTag(parts: readonly string[]): string {
  return hexText(
    digest(
      'sha512',
      parts.map((part) => `${part}\n`),
    ),
  ).toUpperCase()
}

function publishedInfo({ kind, name, namespaced, verbs }: ResourceInfo): readonly unknown[] {
  return [name, namespaced, kind.group, kind.version, kind.kind, verbs]
}

interface TextSource {
  readonly folders: readonly string[]
  text(folder: string): string
}

/**
 * Whether a source of types has their texts, which become part of tags. Other sources are assumed to change only with the version of the
 * server.
 */
function hasTexts(types: TypeSource | TextSource): types is TypeSource & TextSource {
  return 'text' in types && 'folders' in types
}

function digestOf(text: string): string {
  return base64Text(digest('sha256', [text]))
}
