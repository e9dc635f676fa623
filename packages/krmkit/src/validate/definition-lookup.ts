import { type Client, resourceType } from '@krmkit/client'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { formatApiVersion, type GroupVersionKind, nameRules } from '@krmkit/meta'
import { type DefinitionObject, definitionFromJsonSchema } from './json-schema-definition.ts'
import { messageOf } from './message-of.ts'
import { type ManifestObject, nameOf } from './objects.ts'
import type { OfflineKinds } from './offline-kinds.ts'
import { ValidateError } from './validate-error.ts'

/** Additional sources of custom resource definitions besides files. */

/** A source of definitions for custom resources that no file defines. It is queried once per kind and version. */
export interface DefinitionLookup {
  /** Name of the source in messages, such as `the catalog schemas/`. */
  readonly name: string
  /**
   * Returns a CustomResourceDefinition, or undefined when the source has none.
   *
   * @throws any error when the source cannot be read; validation reports it as `unreadable-definition`.
   */
  find(
    kind: GroupVersionKind,
    options: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly kind: string } | undefined>
}

/** Options of a catalog. */
export interface CatalogLookupOptions {
  /** Name of the catalog in messages. Default: `the catalog`. */
  readonly name?: string
  /** Path of a schema, with `{group}`, `{kind}` and `{version}`. Default: `{group}/{kind}_{version}.json`. Kinds are in lower case. */
  readonly path?: string
  /** Reads a file of the catalog; resolves to undefined if it does not exist. */
  readonly read: (path: string, options: { readonly signal?: AbortSignal | undefined }) => Promise<string | undefined>
}

const defaultPath = '{group}/{kind}_{version}.json'

/**
 * Looks up custom resources in a catalog of JSON schemas, one file per kind and version. A schema is read when an object of
 * its kind occurs.
 *
 * @example
 * import { catalogLookup, validateManifests } from 'krmkit/validate'
 * const schemas = new Map([['shop.example.com/widget_v1.json', '{"type":"object","properties":{"size":{"type":"integer"}}}']])
 * const lookups = [catalogLookup({ read: async (path) => schemas.get(path) })]
 * const text = 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nsize: big\n'
 * const { findings } = await validateManifests([{ path: 'a.yaml', text }], { lookups })
 * findings[0]?.path // 'size'
 */
export function catalogLookup({ name = 'the catalog', path = defaultPath, read }: CatalogLookupOptions): DefinitionLookup {
  return {
    name,
    async find(kind, options) {
      const file = fileOf(path, kind)
      const text = file === undefined ? undefined : await read(file, options)
      return text === undefined ? undefined : definitionFromJsonSchema(kind, parseSchema(text))
    },
  }
}

/**
 * Reads the CustomResourceDefinitions of a cluster, and looks up custom resources in them.
 *
 * @param client needs the permission to list `customresourcedefinitions`.
 * @throws ClientError, ApiError when the definitions cannot be read; the reason of `signal`.
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { clusterLookup, validateManifests } from 'krmkit/validate'
 * const client = createRemoteClient(await loadKubeconfig({ context: 'staging' }))
 * const lookups = [await clusterLookup(client, { signal: AbortSignal.timeout(10_000) })]
 * const files = [{ path: 'a.yaml', text: 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\n' }]
 * const { summary } = await validateManifests(files, { lookups })
 */
export async function clusterLookup(
  client: Pick<Client, 'listPages'>,
  { name = 'the cluster', signal }: { readonly name?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<DefinitionLookup> {
  const definitions = new Map<string, DefinitionObject>()
  for await (const { items } of client.listPages(customResourceDefinitions, signal === undefined ? {} : { signal })) {
    for (const item of items) {
      // List items omit apiVersion and kind.
      const definition = { ...item, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
      definitions.set(`${item.spec.group}/${item.spec.names.kind}`, definition as unknown as DefinitionObject)
    }
  }
  return { name, find: async ({ group, kind }) => definitions.get(`${group}/${kind}`) }
}

const customResourceDefinitions = resourceType<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

/** Looks up the custom resources of the objects of one run, and adds them to the kinds of the run. */
export class DefinitionFinder {
  readonly #kinds: OfflineKinds
  readonly #lookups: readonly DefinitionLookup[]
  readonly #signal: AbortSignal | undefined
  readonly #asked = new Set<string>()

  constructor(
    kinds: OfflineKinds,
    { lookups, signal }: { lookups: readonly DefinitionLookup[]; signal: AbortSignal | undefined },
  ) {
    this.#kinds = kinds
    this.#lookups = lookups
    this.#signal = signal
  }

  /** Looks up the kind of an object if it is undefined. */
  async define(object: ManifestObject): Promise<void> {
    if (this.#lookups.length === 0) return
    const kind = this.#kinds.undefinedKind(nameOf(object))
    if (kind === undefined) return
    const key = `${formatApiVersion(kind)} ${kind.kind}`
    if (this.#asked.has(key)) return
    this.#asked.add(key)
    for (const lookup of this.#lookups) if (await this.#ask(lookup, kind)) return
    this.#kinds.notFound(
      kind,
      this.#lookups.map(({ name }) => name),
    )
  }

  /** @returns whether the kind needs no further source. */
  async #ask(lookup: DefinitionLookup, kind: GroupVersionKind): Promise<boolean> {
    try {
      const found = await lookup.find(kind, { signal: this.#signal })
      if (found === undefined) return false
      await this.#kinds.define({ value: structuredClone(found), at: '' }, { foundFor: kind })
    } catch (failure) {
      this.#signal?.throwIfAborted()
      this.#kinds.unreadable(kind, `${lookup.name}: ${messageOf(failure)}`)
    }
    return true
  }
}

/**
 * Returns the path of a schema; undefined for a kind with characters that are invalid in names, because kinds come from
 * manifests.
 */
function fileOf(path: string, { group, version, kind }: GroupVersionKind): string | undefined {
  const parts: Readonly<Record<string, string>> = { group, version, kind: kind.toLowerCase() }
  const problems = [
    nameRules.dns1123Subdomain(group, false),
    nameRules.dns1123Label(parts.kind ?? '', false),
    nameRules.dns1123Label(version, false),
  ]
  if (problems.some((each) => each.length > 0)) return undefined
  return path.replace(/\{(group|kind|version)\}/g, (_, part: string) => parts[part] ?? '')
}

/** @throws ValidateError `InvalidSchema` */
function parseSchema(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ValidateError({ code: 'InvalidSchema', message: `the schema is not JSON: ${messageOf(cause)}`, cause })
  }
}
