import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import type { GroupVersionKind, GroupVersionResource } from '@krmkit/meta'

/**
 * The served resources. Every change replaces the array of definitions: readers may keep it, and an identical array means that
 * nothing has changed.
 */
export class ServedResources {
  #index: Index
  readonly #listeners = new Set<() => void>()

  constructor(definitions: readonly ResourceDefinition[]) {
    this.#index = indexOf(definitions)
  }

  /** Never modified in place. */
  get definitions(): readonly ResourceDefinition[] {
    return this.#index.definitions
  }

  /** Replaces all served definitions. */
  replace(served: readonly ResourceDefinition[]): void {
    const definitions = withoutIntruders(served)
    this.#index = extended(this.#index, definitions) ?? indexOf(definitions)
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` after every change. @returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A served resource at one version. */
  find({ group, version, resource }: GroupVersionResource): ResourceDefinition | undefined {
    const versions = this.#index.byName.get(group)?.get(resource)?.versions
    if (versions !== undefined) for (const each of versions) if (each.version === version) return each
    return undefined
  }

  /** The definition of the storage version, served or not; without one, the definition of the first served version. */
  stored(group: string, resource: string): ResourceDefinition | undefined {
    return this.#index.byName.get(group)?.get(resource)?.stored
  }

  /** All served versions of a stored resource. */
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

/** Drops custom resources in built-in group versions, because they could replace built-in kinds. */
function withoutIntruders(definitions: readonly ResourceDefinition[]): readonly ResourceDefinition[] {
  const builtIn = new Set<string>()
  for (const { custom, group, version } of definitions) if (custom === undefined) builtIn.add(`${group}/${version}`)
  const intrudes = ({ custom, group, version }: ResourceDefinition) => custom !== undefined && builtIn.has(`${group}/${version}`)
  return definitions.some(intrudes) ? definitions.filter((each) => !intrudes(each)) : definitions
}

/** The definitions that share a group and a resource name. */
interface NamedResource {
  /** See `ServedResources.stored`. */
  stored: ResourceDefinition
  /** The served versions; a version has one definition. */
  versions: readonly ResourceDefinition[]
}

interface Index {
  readonly definitions: readonly ResourceDefinition[]
  /** Resources by group, then by name, so that a lookup need not concatenate names to a key. */
  readonly byName: Map<string, Map<string, NamedResource>>
  readonly byStorage: Map<string, ResourceDefinition[]>
  readonly groups: Set<string>
  readonly versions: Set<string>
  readonly kinds: Map<string, KindInfo>
  readonly lists: Set<string>
}

function indexOf(definitions: readonly ResourceDefinition[]): Index {
  const index: Index = {
    definitions,
    byName: new Map(),
    byStorage: new Map(),
    groups: new Set(),
    versions: new Set(),
    kinds: new Map(),
    lists: new Set(),
  }
  for (const each of definitions) add(index, each)
  return index
}

/** Extends the index when definitions were only added; `undefined` when some were removed. */
function extended(index: Index, definitions: readonly ResourceDefinition[]): Index | undefined {
  const next = new Set(definitions)
  for (const each of index.definitions) if (!next.delete(each)) return undefined
  for (const each of next) add(index, each)
  return { ...index, definitions }
}

function add(index: Index, each: ResourceDefinition): void {
  const { byStorage, groups, versions, kinds, lists } = index
  const { group, version, kind, storage } = each
  addName(index, each)
  groups.add(group)
  versions.add(`${group}/${version}`)
  lists.add(`${group}/${version}/${kind.listKind}`)
  const kindKey = `${kind.group}/${kind.version}/${kind.kind}`
  if (!kinds.has(kindKey)) kinds.set(kindKey, kind)
  const place = `${storage.group}/${storage.resource}`
  const together = byStorage.get(place)
  if (together === undefined) byStorage.set(place, [each])
  else together.push(each)
}

function addName({ byName }: Index, each: ResourceDefinition): void {
  const { group, version, resource, storage, storedAs = each } = each
  let ofGroup = byName.get(group)
  if (ofGroup === undefined) {
    ofGroup = new Map()
    byName.set(group, ofGroup)
  }
  const named = ofGroup.get(resource.name)
  if (named === undefined) {
    ofGroup.set(resource.name, { stored: storedAs, versions: [each] })
    return
  }
  if (storage.group === group && storage.version === version) named.stored = storedAs
  named.versions = [each, ...named.versions.filter((other) => other.version !== version)]
}
