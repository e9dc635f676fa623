import { createFeatures, type GroupVersion } from '@krmkit/meta'
import { readStockFacts } from '../catalog/facts.ts'
import { resourceGateEnabled } from '../catalog/resource-gates.ts'
import { resourceInfos } from '../catalog/resources.ts'
import { compareGroups, compareVersions } from '../groups.ts'
import { announcementAt, factsAt, lifecycleIndex } from './release-facts.ts'
import { factMinor, minorOf } from './release-names.ts'

/** The resources, groups and storage versions of each release, with stock names. */

/** A resource that a release has, whether it serves it by default or not. */
export interface ReleaseResource extends GroupVersion {
  /** Plural. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** Whether it is served without `--runtime-config`. */
  readonly enabledByDefault: boolean
  /** First release with this version of the kind. */
  readonly introduced: string
  /** First release that deprecates the version, as this release announced it. */
  readonly deprecated?: string
  /** First release without the version, as this release announced it. */
  readonly removed?: string
  /** `group,version,kind` */
  readonly replacement?: string
  readonly verbs: readonly string[]
  /** Names such as `pods/log`. */
  readonly subresources: readonly string[]
}

/** A group of a release, with its versions from the most to the least preferred. */
export interface ReleaseGroup {
  readonly group: string
  readonly versions: readonly string[]
}

const known = new Map<string, readonly ReleaseResource[]>()

/**
 * The resources that a release has, in discovery order. The announcements are those of the release, which later ones may have changed.
 *
 * @throws KindsError `UnknownRelease` for a release outside 1.16 to 1.37.
 * @example
 * import { resourcesAt } from '@krmkit/kinds/releases'
 * const budgets = resourcesAt('1.24').filter(({ kind }) => kind === 'PodDisruptionBudget')
 * budgets.map(({ version, removed = '' }) => `${version} ${removed}`) // [ 'v1 ', 'v1beta1 1.25' ]
 */
export function resourcesAt(release: string): readonly ReleaseResource[] {
  const name = `1.${minorOf(release)}`
  const seen = known.get(name)
  if (seen !== undefined) return seen
  const all = Object.freeze(readResources(name))
  known.set(name, all)
  return all
}

function readResources(release: string): ReleaseResource[] {
  const facts = factsAt(readStockFacts(), release)
  const lifecycles = lifecycleIndex()
  const features = createFeatures(release)
  const found = Object.values(facts).flatMap(({ group, versions }) =>
    Object.entries(versions).flatMap(([version, own]) => {
      const infos = resourceInfos(facts, { group, version }, own)
      return infos
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, kind: { kind }, namespaced, verbs }): ReleaseResource => {
          const announced = announcementAt(lifecycles.get(`${group}/${version}/${kind}`)!, release)!
          const subresources = infos
            .map((each) => each.name)
            .filter((each) => each.startsWith(`${name}/`) && resourceGateEnabled(group, each, features))
          const enabledByDefault = own.resources[name]!.enabled ?? own.enabled ?? false
          return { group, version, resource: name, kind, namespaced, enabledByDefault, ...announced, verbs, subresources }
        })
    }),
  )
  return found.sort((a, b) => compareGroups(a.group, b.group) || compareVersions(a.version, b.version, a.group))
}

/**
 * The groups of a release in discovery order, with the versions that are served by default.
 *
 * @param options `all`: also the versions that `--runtime-config` can enable.
 * @throws KindsError `UnknownRelease`
 * @example
 * import { groupsAt } from '@krmkit/kinds/releases'
 * groupsAt('1.24').find(({ group }) => group === 'autoscaling')?.versions // [ 'v2', 'v1', 'v2beta1', 'v2beta2' ]
 */
export function groupsAt(release: string, { all = false }: { readonly all?: boolean } = {}): readonly ReleaseGroup[] {
  const groups = new Map<string, string[]>()
  for (const { group, version, enabledByDefault } of resourcesAt(release)) {
    if (!enabledByDefault && !all) continue
    const versions = groups.get(group) ?? []
    if (!versions.includes(version)) versions.push(version)
    groups.set(group, versions)
  }
  return [...groups].map(([group, versions]) => ({ group, versions }))
}

/** Groups whose objects another group stores. Key: `group/resource`. */
const storedElsewhere: Readonly<Record<string, string>> = {
  'events.k8s.io/events': '',
  'extensions/ingresses': 'networking.k8s.io',
  'extensions/networkpolicies': 'networking.k8s.io',
  'extensions/daemonsets': 'apps',
  'extensions/deployments': 'apps',
  'extensions/replicasets': 'apps',
  'extensions/podsecuritypolicies': 'policy',
}

/** Resources whose storage version advanced later than one release after a version appeared. Key: `group/resource`. */
const lateAdvances: Readonly<Record<string, { readonly version: string; readonly before: string }>> = {
  'autoscaling/horizontalpodautoscalers': { version: 'v1', before: '1.27' },
  'discovery.k8s.io/endpointslices': { version: 'v1beta1', before: '1.31' },
  'storage.k8s.io/volumeattributesclasses': { version: 'v1beta1', before: '1.36' },
}

/**
 * The version that a release stores: the most stable one that the release before had, so that both can read it (rule 4b).
 *
 * @returns undefined when the release does not have the resource.
 * @throws KindsError `UnknownRelease`
 * @example
 * import { storageVersionAt } from '@krmkit/kinds/releases'
 * storageVersionAt('1.21', { group: 'batch', resource: 'cronjobs' }) // { group: 'batch', version: 'v1beta1' }
 * @see API protocol specification, 9.3 (rule 4b)
 */
export function storageVersionAt(
  release: string,
  { group, resource }: { readonly group: string; readonly resource: string },
): GroupVersion | undefined {
  const minor = minorOf(release)
  const at = storedElsewhere[`${group}/${resource}`] ?? group
  const versions = resourcesAt(release).filter((each) => each.group === at && each.resource === resource)
  const late = lateAdvances[`${at}/${resource}`]
  if (late !== undefined && minor < factMinor(late.before)) return { group: at, version: late.version }
  const stored = versions.find(({ introduced }) => factMinor(introduced) < minor) ?? versions[0]
  return stored === undefined ? undefined : { group: stored.group, version: stored.version }
}
