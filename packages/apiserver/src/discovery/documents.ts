import type { ResourceDefinition, ResourceInfo } from '@krmkit/kinds'
import { compareGroups, compareVersions, groupPriority, stockGroup } from '@krmkit/kinds/groups'
import {
  formatApiVersion,
  type GroupVersion,
  type GroupVersionKind,
  type JsonObject,
  type NamingProfile,
  stockProfile,
} from '@krmkit/meta'
import type { RemoteVersion } from './remote-version.ts'
import { storageVersionHash } from './storage-version-hash.ts'

/** Discovery documents as objects, with members in the order of kube-apiserver. */

/** A group with its served versions, the preferred one first. */
export interface ServedGroup {
  readonly group: string
  readonly versions: readonly ServedVersion[]
  /** Groups are listed by descending priority. */
  readonly priority: number
}

export interface ServedVersion extends GroupVersion {
  /** Sorted by plural name. */
  readonly resources: readonly ResourceDefinition[]
  /** Set for a version of another server, whose discovery lists the resources. */
  readonly remote?: RemoteVersion
}

/** Groups by descending priority; the core group comes first. */
export function servedGroups(
  resources: readonly ResourceDefinition[],
  profile: NamingProfile = stockProfile,
  remote: readonly RemoteVersion[] = [],
): ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>()
  for (const definition of resources) {
    const versions = getOrCreate(groups, definition.group, () => new Map<string, ResourceDefinition[]>())
    getOrCreate(versions, definition.version, (): ResourceDefinition[] => []).push(definition)
  }
  for (const { group } of remote) getOrCreate(groups, group, () => new Map<string, ResourceDefinition[]>())
  return [...groups]
    .map(([group, versions]) => servedGroup(group, versions, { profile, remote: remote.filter((each) => each.group === group) }))
    .sort((a, b) => b.priority - a.priority || compareGroups(stockGroup(a.group, profile), stockGroup(b.group, profile)))
}

function servedGroup(
  group: string,
  versions: ReadonlyMap<string, ResourceDefinition[]>,
  { profile, remote }: { readonly profile: NamingProfile; readonly remote: readonly RemoteVersion[] },
): ServedGroup {
  const localPriority = versions.size === 0 ? 0 : groupPriority(stockGroup(group, profile))
  const priority = Math.max(localPriority, ...remote.map((each) => each.groupPriority))
  const local = servedVersions(group, versions)
  if (remote.length === 0) return { group, versions: local, priority }
  // Versions that are assigned to another server are not served here.
  const kept = local.filter(({ version }) => !remote.some((each) => each.version === version))
  const proxied = remote.map((each): ServedVersion => ({ group, version: each.version, resources: [], remote: each }))
  const rank = ({ remote: other }: ServedVersion) => other?.versionPriority ?? 100
  const all = [...kept, ...proxied].sort((a, b) => rank(b) - rank(a) || compareVersions(a.version, b.version, group))
  return { group, versions: all, priority }
}

function servedVersions(group: string, versions: ReadonlyMap<string, ResourceDefinition[]>): ServedVersion[] {
  return [...versions]
    .map(([version, resources]) => ({ group, version, resources: resources.sort(byPlural) }))
    .sort((a, b) => compareVersions(a.version, b.version, group))
}

function byPlural(a: ResourceDefinition, b: ResourceDefinition): number {
  return a.resource.name < b.resource.name ? -1 : a.resource.name > b.resource.name ? 1 : 0
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const created = create()
  map.set(key, created)
  return created
}

/** Whether a group is built in: those have fixed priorities, unlike groups of custom resources. */
export function isBuiltInGroup(group: string, profile: NamingProfile = stockProfile): boolean {
  return groupPriority(stockGroup(group, profile)) !== groupPriority('example.com')
}

/** The document of `/api`. Without an apiVersion, like the first release. */
export function apiVersions(core: ServedGroup, serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: core.versions.map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** The document of `/apis`. */
export function apiGroupList(groups: readonly ServedGroup[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupObject) }
}

/** The document of `/apis/{group}`. */
export function apiGroup(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupObject(group) }
}

function groupObject({ group, versions }: ServedGroup): JsonObject {
  const shown = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: shown, preferredVersion: { ...(shown[0] as JsonObject) } }
}

/**
 * The document of `/api/v1` and `/apis/{group}/{version}`. Those of the first two groups have no apiVersion, like the first release.
 *
 * @param withHashes whether stored resources have the hash of their storage version
 */
export function apiResourceList(served: ServedVersion, withHashes = true): JsonObject {
  const groupVersion = formatApiVersion(served)
  return {
    kind: 'APIResourceList',
    ...(served.group === '' || served.group === 'extensions' ? {} : { apiVersion: 'v1' }),
    groupVersion,
    resources: served.resources.flatMap((definition) => [
      resourceObject(definition.resource, definition, withHashes),
      ...definition.subresources.map((subresource) => resourceObject(subresource, definition, withHashes)),
    ]),
  }
}

function resourceObject(info: ResourceInfo, definition: ResourceDefinition, withHashes: boolean): JsonObject {
  const { categories, kind, name, namespaced, shortNames, singularName, verbs } = info
  const isForeign = kind.group !== definition.group || kind.version !== definition.version
  return {
    name,
    singularName,
    namespaced,
    ...(isForeign && kind.group !== '' ? { group: kind.group } : {}),
    ...(isForeign ? { version: kind.version } : {}),
    kind: kind.kind,
    verbs: [...verbs],
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
    ...(withHashes && isStored(info) && hasServedStorage(definition)
      ? { storageVersionHash: storageVersionHash(announcedKind(definition)) }
      : {}),
  }
}

function announcedKind({ storage: { group, version, announced }, kind }: ResourceDefinition): GroupVersionKind {
  return { group, version: announced ?? version, kind: kind.kind }
}

/** Whether to announce the storage version hash. As on kube-apiserver, not for a custom resource whose storage version is not served. */
function hasServedStorage({ custom, storedAs }: ResourceDefinition): boolean {
  return custom === undefined || storedAs === undefined
}

/** Whether objects of the resource are stored: exactly the stored resources can be watched. */
function isStored({ name, verbs }: ResourceInfo): boolean {
  return !name.includes('/') && verbs.includes('watch')
}

export type AggregatedVersion = 'v2' | 'v2beta1'

/** The aggregated documents of `/api` and `/apis`: groups with their versions and resources. */
export function groupDiscoveryList(
  groups: readonly ServedGroup[],
  { apiVersion, nullTimes }: { readonly apiVersion: string; readonly nullTimes: boolean },
): JsonObject {
  const time = nullTimes ? { creationTimestamp: null } : {}
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { ...(group === '' ? {} : { name: group }), ...time },
      versions: versions.map(versionDiscovery),
    })),
  }
}

function versionDiscovery({ version, resources, remote }: ServedVersion): JsonObject {
  if (remote !== undefined) {
    const discovered = remote.resources as JsonObject[] | undefined
    return {
      version,
      ...(discovered === undefined ? {} : { resources: discovered }),
      freshness: remote.current ? 'Current' : 'Stale',
    }
  }
  return { version, resources: resources.map(resourceDiscovery), freshness: 'Current' }
}

function resourceDiscovery(definition: ResourceDefinition): JsonObject {
  const { categories, name, namespaced, shortNames, singularName, verbs } = definition.resource
  const subresources = definition.subresources.map((subresource) => ({
    subresource: subresource.name.slice(name.length + 1),
    responseKind: responseKind(subresource, definition),
    verbs: [...subresource.verbs],
  }))
  return {
    resource: name,
    responseKind: responseKind(definition.resource, definition),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singularName,
    verbs: [...verbs],
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  }
}

/** Built-in resources omit group and version of kinds in their own group version; custom resources do not. */
function responseKind({ kind }: ResourceInfo, definition: ResourceDefinition): JsonObject {
  const own = kind.group === definition.group && kind.version === definition.version
  const isShort = own && definition.custom === undefined
  return { group: isShort ? '' : kind.group, version: isShort ? '' : kind.version, kind: kind.kind }
}
