import type { GroupVersion, GroupVersionKind } from '@krmkit/meta'
import type { ResourceInfo } from '../interfaces.ts'
import type { CatalogFacts, ResourceFacts, VersionFacts } from './facts.ts'

/** Returns resources and sub-resources of one group version, sorted by name as in discovery. */
export function resourceInfos(facts: CatalogFacts, at: GroupVersion, { resources }: VersionFacts): ResourceInfo[] {
  return Object.entries(resources)
    .filter(([, { gone }]) => !gone)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => resourceInfo(name, own, kindOf(facts, at, own.kind), resources))
}

/** Releases that added a sub-resource to an existing resource. Key: `group/version/name`. */
const subresourceReleases: Readonly<Record<string, string>> = {
  '/v1/pods/resize': '1.32',
}

/** @returns the release that introduced a sub-resource; undefined if it is as old as its resource. */
export function subresourceRelease({ group, version }: GroupVersion, name: string): string | undefined {
  return subresourceReleases[`${group}/${version}/${name}`]
}

function resourceInfo(
  name: string,
  own: ResourceFacts,
  kind: GroupVersionKind,
  siblings: Readonly<Record<string, ResourceFacts>>,
): ResourceInfo {
  const virtual = isVirtual(name, own, siblings)
  return {
    name,
    singularName: own.singular ?? '',
    namespaced: own.namespaced ?? false,
    kind,
    verbs: own.verbs ?? [],
    shortNames: own.shortNames ?? [],
    categories: own.categories ?? [],
    ...(virtual ? { virtual } : {}),
  }
}

/**
 * Operations rather than objects: reviews and bindings, which can only be created; component statuses, which are computed on
 * reading; sub-resources whose kind differs from that of the resource; logs.
 */
function isVirtual(name: string, own: ResourceFacts, siblings: Readonly<Record<string, ResourceFacts>>): boolean {
  const slash = name.indexOf('/')
  if (slash < 0) return !(own.verbs ?? []).includes('watch')
  return own.kind !== siblings[name.slice(0, slash)]?.kind || name === 'pods/log'
}

/** Kinds of other groups are written `folder/version.Kind`. */
function kindOf(facts: CatalogFacts, { group, version }: GroupVersion, kind: string): GroupVersionKind {
  const other = /^([a-z]+)\/([a-z0-9]+)\.([A-Za-z]+)$/.exec(kind)
  return other === null ? { group, version, kind } : { group: facts[other[1]!]!.group, version: other[2]!, kind: other[3]! }
}
