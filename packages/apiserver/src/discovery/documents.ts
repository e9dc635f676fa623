import {
  compareGroups,
  compareVersions,
  groupPriority,
  type ResourceDefinition,
  type ResourceInfo,
  stockGroup,
} from '@krmkit/kinds'
import { type GroupVersion, type JsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { RemoteVersion } from '../aggregation/interfaces.ts'
import { storageVersionHash } from './storage-version-hash.ts'

/** The discovery documents as objects, members in the order in which the stock server prints them. */

/** A group with the versions it is served at, the preferred one first. */
export interface ServedGroup {
  readonly group: string
  readonly versions: readonly ServedVersion[]
  /** Higher comes first. */
  readonly priority: number
}

export interface ServedVersion extends GroupVersion {
  /** By plural. */
  readonly resources: readonly ResourceDefinition[]
  /** Served by another server, which tells its resources itself. */
  readonly remote?: RemoteVersion
}

/** Groups in the order of their priority, the core group first among them where there is one. */
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
  const own = versions.size === 0 ? 0 : groupPriority(stockGroup(group, profile))
  const priority = Math.max(own, ...remote.map(({ groupPriority: asked }) => asked))
  const here = servedVersions(group, versions)
  if (remote.length === 0) return { group, versions: here, priority }
  // What is given to another server is not served here.
  const kept = here.filter(({ version }) => !remote.some((each) => each.version === version))
  const there = remote.map((each): ServedVersion => ({ group, version: each.version, resources: [], remote: each }))
  const rank = ({ remote: other }: ServedVersion) => other?.versionPriority ?? 100
  const all = [...kept, ...there].sort((a, b) => rank(b) - rank(a) || compareVersions(a.version, b.version))
  return { group, versions: all, priority }
}

function servedVersions(group: string, versions: ReadonlyMap<string, ResourceDefinition[]>): ServedVersion[] {
  return [...versions]
    .map(([version, resources]) => ({ group, version, resources: resources.sort(byPlural) }))
    .sort((a, b) => compareVersions(a.version, b.version))
}

function byPlural(a: ResourceDefinition, b: ResourceDefinition): number {
  return a.resource.name < b.resource.name ? -1 : a.resource.name > b.resource.name ? 1 : 0
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** Groups that belong to the server itself have a place of their own in the order of groups; others came as custom resources. */
export function isBuiltInGroup(group: string, profile: NamingProfile = stockProfile): boolean {
  return groupPriority(stockGroup(group, profile)) !== groupPriority('example.com')
}

/** `/api`. Without an apiVersion, as the first release printed it. */
export function apiVersions(core: ServedGroup, serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: core.versions.map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis` */
export function apiGroupList(groups: readonly ServedGroup[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupObject) }
}

/** `/apis/{group}` */
export function apiGroup(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupObject(group) }
}

function groupObject({ group, versions }: ServedGroup): JsonObject {
  const shown = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: shown, preferredVersion: { ...(shown[0] as JsonObject) } }
}

/** `/api/v1` and `/apis/{group}/{version}`. The core group prints no apiVersion, as the first release did. */
export function apiResourceList(served: ServedVersion): JsonObject {
  const groupVersion = served.group === '' ? served.version : `${served.group}/${served.version}`
  return {
    kind: 'APIResourceList',
    ...(served.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion,
    resources: served.resources.flatMap((definition) => [
      resourceObject(definition.resource, definition),
      ...definition.subresources.map((subresource) => resourceObject(subresource, definition)),
    ]),
  }
}

function resourceObject(info: ResourceInfo, definition: ResourceDefinition): JsonObject {
  const { categories, kind, name, namespaced, shortNames, singularName, verbs } = info
  const elsewhere = kind.group !== definition.group || kind.version !== definition.version
  return {
    name,
    singularName,
    namespaced,
    ...(elsewhere && kind.group !== '' ? { group: kind.group } : {}),
    ...(elsewhere ? { version: kind.version } : {}),
    kind: kind.kind,
    verbs: [...verbs],
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
    ...(isStored(info) ? { storageVersionHash: storageVersionHash({ ...definition.storage, kind: kind.kind }) } : {}),
  }
}

/** Whether objects of the resource are kept: they can be watched. */
function isStored({ name, verbs }: ResourceInfo): boolean {
  return !name.includes('/') && verbs.includes('watch')
}

export type AggregatedVersion = 'v2' | 'v2beta1'

/** `/api` and `/apis` in aggregated form: groups with all that is in them. */
export function groupDiscoveryList(groups: readonly ServedGroup[], apiVersion: string): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versions.map(versionDiscovery),
    })),
  }
}

function versionDiscovery({ version, resources, remote }: ServedVersion): JsonObject {
  if (remote !== undefined) {
    const told = remote.resources as JsonObject[] | undefined
    return { version, ...(told === undefined ? {} : { resources: told }), freshness: remote.current ? 'Current' : 'Stale' }
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

/** Kinds of the group version itself are named in full by custom resources alone. */
function responseKind({ kind }: ResourceInfo, definition: ResourceDefinition): JsonObject {
  const own = kind.group === definition.group && kind.version === definition.version
  const short = own && definition.custom === undefined
  return { group: short ? '' : kind.group, version: short ? '' : kind.version, kind: kind.kind }
}
