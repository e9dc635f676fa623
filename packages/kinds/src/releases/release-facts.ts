import type { CatalogFacts, GroupFacts, KindFacts, ResourceFacts, VersionFacts } from '../catalog/facts.ts'
import { type KindLifecycle, readLifecycle } from '../catalog/lifecycle.ts'
import {
  crudVerbs,
  earlierBodies,
  earlierResources,
  laterSubresources,
  sharedWith,
  subresourceReleases,
  verbReleases,
} from './earlier-resources.ts'
import { laterFacts } from './later-facts.ts'
import { factMinor, minorOf, servedMinor } from './release-names.ts'

/** The facts of the catalog as they were in a release. */

/** Singular names are part of discovery since this release; earlier documents have empty ones. */
const singularNamesSince = 27

/** Beta versions that began with this release, or later, are off by default. */
const betaOffSince = 24

/** Beta versions that continue an older one that was on by default, and are therefore on as well. Key: `group/version`. */
const continuedBetas: ReadonlySet<string> = new Set(['flowcontrol.apiserver.k8s.io/v1beta3'])

/** The announcements of a release about a kind. */
export interface Announcement {
  readonly introduced: string
  readonly deprecated?: string
  readonly removed?: string
  /** `group,version,kind` */
  readonly replacement?: string
}

/** Lifecycles by `group/version/kind`, with stock names. */
export function lifecycleIndex(): ReadonlyMap<string, KindLifecycle> {
  return new Map(readLifecycle().map((row) => [`${row.group}/${row.version}/${row.kind}`, row]))
}

/** What a release announced; undefined when it does not have the kind. Later releases may have changed their minds. */
export function announcementAt(row: KindLifecycle, release: string): Announcement | undefined {
  const minor = minorOf(release)
  const { introduced, removed } = row
  if (introduced === null || factMinor(introduced) > minor) return undefined
  if (removed !== null && factMinor(removed) <= minor) return undefined
  const change = row.history?.filter(([since]) => factMinor(since) <= minor).at(-1)
  const [deprecated, announcedRemoval, replacement] =
    change === undefined ? [row.deprecated, removed, row.replacement] : [change[2], change[3], change[4]]
  return {
    introduced,
    ...(deprecated === null ? {} : { deprecated }),
    ...(announcedRemoval === null ? {} : { removed: announcedRemoval }),
    ...(replacement === null ? {} : { replacement }),
  }
}

/** Whether a release serves a version by default. @param introduced of the version. */
function isEnabledByDefault(group: string, version: string, introduced: string): boolean {
  if (/alpha\d+$/.test(version)) return false
  if (!/beta\d+$/.test(version)) return true
  return factMinor(introduced) < betaOffSince || continuedBetas.has(`${group}/${version}`)
}

/**
 * The facts of a release: the resources that it has, with what it announced about their kinds.
 *
 * @param facts of the release that is served by default, with stock names
 * @throws KindsError `UnknownRelease`
 */
export function factsAt(facts: CatalogFacts, release: string): CatalogFacts {
  const minor = minorOf(release)
  if (minor > servedMinor) return laterFacts(facts, minor)
  const lifecycles = lifecycleIndex()
  return Object.fromEntries(
    Object.entries(facts).map(([folder, own]): [string, GroupFacts] => {
      const known = { ...own.versions }
      for (const [version, resources] of Object.entries(earlierResources[folder] ?? {})) {
        const present = known[version] ?? { kinds: {}, resources: {} }
        known[version] = { ...present, resources: { ...present.resources, ...resources } }
      }
      const versions = Object.entries(known).map(([version, each]): [string, VersionFacts] => {
        return [version, versionAt(each, { facts, folder, group: own.group, version, release, minor, lifecycles })]
      })
      return [folder, { group: own.group, versions: Object.fromEntries(versions) }]
    }),
  )
}

interface Place {
  readonly facts: CatalogFacts
  readonly folder: string
  readonly group: string
  readonly version: string
  readonly release: string
  readonly minor: number
  readonly lifecycles: ReadonlyMap<string, KindLifecycle>
}

function versionAt({ kinds, resources }: VersionFacts, at: Place): VersionFacts {
  const kept: Record<string, ResourceFacts> = {}
  for (const [name, own] of Object.entries(resources)) {
    if (name.includes('/') || (own.gone === true && name === 'evictions')) continue
    const announced = announcementOf(own.kind, at)
    if (announced === undefined) continue
    const enabled = isEnabledByDefault(at.group, at.version, announced.introduced)
    for (const [each, resource] of completed(name, own, { resources, at })) {
      const shown = resourceAt(each, resource, at)
      if (shown !== undefined) kept[each] = { ...shown, enabled }
    }
  }
  return { enabled: false, kinds: kindsAt(kinds, kept, at), resources: kept }
}

function announcementOf(kind: string, { group, version, release, lifecycles }: Place): Announcement | undefined {
  const row = lifecycles.get(`${group}/${version}/${kind}`)
  return row === undefined ? undefined : announcementAt(row, release)
}

/** Kinds keep their types; announcements are those of the release, and kinds that it lacks are future or removed. */
function kindsAt(kinds: VersionFacts['kinds'], resources: VersionFacts['resources'], at: Place): Record<string, KindFacts> {
  const shown: Record<string, KindFacts> = {}
  for (const [kind, own] of Object.entries(kinds)) {
    const { introduced: _i, deprecated: _d, removed: _r, replacement: _s, ...rest } = own
    shown[kind] = { ...rest, ...(announcementOf(kind, at) ?? own) }
  }
  for (const [name, { kind, namespaced = false }] of Object.entries(resources)) {
    if (name.includes('/') || kind.includes('/') || Object.hasOwn(shown, kind)) continue
    shown[kind] = { object: true, list: `${kind}List`, ...(namespaced ? { namespaced } : {}), ...announcementOf(kind, at) }
  }
  return shown
}

/** A resource and its subresources; one that is no longer served takes what is missing from a later version. */
function completed(
  name: string,
  own: ResourceFacts,
  { resources, at }: { readonly resources: VersionFacts['resources']; readonly at: Place },
): [string, ResourceFacts][] {
  const below = (all: VersionFacts['resources']) => Object.entries(all).filter(([each]) => each.startsWith(`${name}/`))
  if (own.gone !== true && own.verbs !== undefined) return [[name, own], ...below(resources)]
  const later = laterVersion(name, at)
  const { gone: _, ...rest } = own
  const model = later?.[name]
  const { gone: __, ...shared } = model ?? { kind: own.kind, verbs: crudVerbs }
  const subresources = below(later ?? {}).filter(([each]) => !laterSubresources.has(`${at.group}/${at.version}/${each}`))
  return [[name, { ...shared, ...rest }], ...subresources]
}

/** The resources of the version that a resource shares its verbs and names with. */
function laterVersion(name: string, { facts, folder }: Place): VersionFacts['resources'] | undefined {
  const source = facts[sharedWith[`${folder}/${name}`] ?? folder]
  return Object.values(source?.versions ?? {}).find(({ resources }) => {
    return Object.hasOwn(resources, name) && resources[name]?.verbs !== undefined
  })?.resources
}

function resourceAt(name: string, own: ResourceFacts, { group, version, minor }: Place): ResourceFacts | undefined {
  const key = `${group}/${version}/${name}`
  const since = subresourceReleases[key]
  if (since !== undefined && factMinor(since) > minor) return undefined
  const body = earlierBodies[key]?.find(({ before }) => minor < factMinor(before))
  const later = (own.verbs ?? []).filter((verb) => factMinor(verbReleases[`${key} ${verb}`] ?? '1.0') > minor)
  const { singular, ...rest } = own
  return {
    ...rest,
    ...(singular === undefined || minor < singularNamesSince ? {} : { singular }),
    ...(body === undefined ? {} : { kind: body.kind }),
    ...(later.length === 0 ? {} : { verbs: (own.verbs ?? []).filter((verb) => !later.includes(verb)) }),
  }
}
