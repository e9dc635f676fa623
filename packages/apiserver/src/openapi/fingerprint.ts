import { createHash } from 'node:crypto'
import type { ResourceDefinition, ResourceInfo } from '@krmkit/kinds'
import type { NamingProfile } from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import type { CustomForm } from './published.ts'

/**
 * Entity tags of documents from what the documents are made of, so that nobody has to make a document to know whether it has changed:
 * the version of the server, the facts of the built-in types, the form of names, and of each resource what is published of it. Servers
 * with the same content have the same tags, before and after a restart.
 */

/** To be raised by whoever changes what documents say of the same resources; a test notices. */
export const documentRevision = 1

export interface FingerprintOptions {
  readonly types: TypeSource
  /** Version of the server. */
  readonly version: string
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

  /** Of a document about these resources. SHA-512 in upper-case hexadecimal digits. */
  document(name: string, definitions: readonly ResourceDefinition[]): string {
    this.#serverDigest ??= this.#computeServerDigest()
    return combinedTag([this.#serverDigest, name, ...definitions.map((definition) => this.definition(definition))])
  }

  /** Of what is published of a resource. Made once; takes longer for a longer schema. */
  definition(definition: ResourceDefinition): string {
    const known = this.#ofDefinitions.get(definition)
    if (known !== undefined) return known
    const { group, version, kind, strategy: policy, resource, subresources } = definition
    const form = this.#options.customForm(definition)
    const made = digest(
      JSON.stringify([
        group,
        version,
        kind.kind,
        kind.listKind,
        policy.deleteAnswer ?? '',
        publishedInfo(resource),
        subresources.map(publishedInfo),
        form === undefined ? null : [this.#schema(form.schema), form.preserveUnknownFields === true, form.selectableFields ?? []],
      ]),
    )
    this.#ofDefinitions.set(definition, made)
    return made
  }

  #schema(schema: object | undefined): string {
    if (schema === undefined) return ''
    const known = this.#ofSchemas.get(schema)
    if (known !== undefined) return known
    const made = digest(JSON.stringify(schema))
    this.#ofSchemas.set(schema, made)
    return made
  }

  #computeServerDigest(): string {
    const { profile, types, version } = this.#options
    const texts = hasTexts(types) ? types.folders.map((folder) => digest(types.text(folder))) : []
    return digest(JSON.stringify([documentRevision, version, profile, texts]))
  }
}

/** The tag of a document made of others. */
export function combinedTag(parts: readonly string[]): string {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part).update('\n')
  return hash.digest('hex').toUpperCase()
}

function publishedInfo({ kind, name, namespaced, verbs }: ResourceInfo): readonly unknown[] {
  return [name, namespaced, kind.group, kind.version, kind.kind, verbs]
}

interface TextSource {
  readonly folders: readonly string[]
  text(folder: string): string
}

/** Sources of other origin are taken to tell the same types as long as the version of the server is the same. */
function hasTexts(types: TypeSource | TextSource): types is TypeSource & TextSource {
  return 'text' in types && 'folders' in types
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
