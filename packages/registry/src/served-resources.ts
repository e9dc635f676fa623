import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import type { GroupVersionKind, GroupVersionResource } from '@krmkit/meta'

/**
 * The resources that are served now. What is served changes as a whole: readers keep the array, and the same array means that
 * nothing has changed.
 */
export class ServedResources {
  #index: Index
  readonly #listeners = new Set<() => void>()

  constructor(definitions: readonly ResourceDefinition[]) {
    this.#index = indexOf(definitions)
  }

  /** Never changed in place. */
  get definitions(): readonly ResourceDefinition[] {
    return this.#index.definitions
  }

  /** From now on these are served, and nothing else. */
  replace(definitions: readonly ResourceDefinition[]): void {
    this.#index = indexOf(definitions)
    for (const listener of this.#listeners) listener()
  }

  /** Hears of every change, after it. @returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A served resource at one version. */
  find({ group, version, resource }: GroupVersionResource): ResourceDefinition | undefined {
    return this.#index.byName.get(`${group}/${version}/${resource}`)
  }

  /** The definition whose version is the stored one (or comes first), whatever version was asked for. */
  stored(group: string, resource: string): ResourceDefinition | undefined {
    return this.#index.stored.get(`${group}/${resource}`)
  }

  /** All versions of the resource that the objects of a definition are served at. */
  versionsOf({ group, resource }: { readonly group: string; readonly resource: string }): readonly ResourceDefinition[] {
    return this.#index.byStorage.get(`${group}/${resource}`) ?? []
  }

  hasGroup(group: string): boolean {
    return this.#index.groups.has(group)
  }

  hasVersion(group: string, version: string): boolean {
    return this.#index.versions.has(`${group}/${version}`)
  }

  kind({ group, version, kind }: GroupVersionKind): KindInfo | undefined {
    return this.#index.kinds.get(`${group}/${version}/${kind}`)
  }

  hasListKind({ group, version, kind }: GroupVersionKind): boolean {
    return this.#index.lists.has(`${group}/${version}/${kind}`)
  }
}

interface Index {
  readonly definitions: readonly ResourceDefinition[]
  readonly byName: ReadonlyMap<string, ResourceDefinition>
  readonly stored: ReadonlyMap<string, ResourceDefinition>
  readonly byStorage: ReadonlyMap<string, readonly ResourceDefinition[]>
  readonly groups: ReadonlySet<string>
  readonly versions: ReadonlySet<string>
  readonly kinds: ReadonlyMap<string, KindInfo>
  readonly lists: ReadonlySet<string>
}

function indexOf(definitions: readonly ResourceDefinition[]): Index {
  const byName = new Map<string, ResourceDefinition>()
  const stored = new Map<string, ResourceDefinition>()
  const byStorage = new Map<string, ResourceDefinition[]>()
  const kinds = new Map<string, KindInfo>()
  const groups = new Set<string>()
  const versions = new Set<string>()
  const lists = new Set<string>()
  for (const each of definitions) {
    const { group, version, resource, kind, storage } = each
    byName.set(`${group}/${version}/${resource.name}`, each)
    groups.add(group)
    versions.add(`${group}/${version}`)
    lists.add(`${group}/${version}/${kind.listKind}`)
    const kindKey = `${kind.group}/${kind.version}/${kind.kind}`
    if (!kinds.has(kindKey)) kinds.set(kindKey, kind)
    const name = `${group}/${resource.name}`
    const isStored = storage.group === group && storage.version === version
    if (isStored || !stored.has(name)) stored.set(name, each)
    const place = `${storage.group}/${storage.resource}`
    const together = byStorage.get(place)
    if (together === undefined) byStorage.set(place, [each])
    else together.push(each)
  }
  return { definitions, byName, stored, byStorage, groups, versions, kinds, lists }
}
