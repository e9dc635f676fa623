import type { KindLifecycle } from '@krmkit/kinds'
import { kindStateAt } from './kind-lifecycle.ts'
import { compareReleases } from './release.ts'
import { compareStability, stabilityOf } from './stability.ts'

/** Determines the replacement of a kind in a release, and the release that removes a kind. */

/** The newest release of the recorded lifecycles. */
export const newestRelease = '1.37'

/** The first release whose served resources are recorded. */
const firstWithServed = '1.33'

/**
 * Returns the kind that replaces another one at a release. Announcements name the successor at their time. If that was
 * removed since, its successor is returned. Undefined when no successor is in the release.
 *
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * import { replacementAt } from '@krmkit/versioning'
 * const all = readLifecycle()
 * const replaced = all.find(({ kind, version }) => kind === 'CronJob' && version === 'v1beta1')!
 * replacementAt(all, { replaced, release: '1.25' })?.version // 'v1'
 */
export function replacementAt(
  lifecycles: readonly KindLifecycle[],
  { replaced, release }: { readonly replaced: KindLifecycle; readonly release: string },
): KindLifecycle | undefined {
  const seen = new Set<KindLifecycle>()
  for (let at = successorOf(lifecycles, replaced); at !== undefined && !seen.has(at); at = successorOf(lifecycles, at)) {
    const { phase } = kindStateAt(at, release)
    if (phase === 'current' || phase === 'deprecated') return at
    seen.add(at)
  }
  return bestVersion(lifecycles, replaced, release)
}

function successorOf(lifecycles: readonly KindLifecycle[], { replacement }: KindLifecycle): KindLifecycle | undefined {
  const [group, version, kind = ''] = replacement?.split(',') ?? []
  // Some announcements name the list kind.
  return lifecycles.find((each) => each.group === group && each.version === version && (each.kind === kind || each.list === kind))
}

/** Returns the most stable other version of the kind in its group that the release serves and does not deprecate. */
function bestVersion(
  lifecycles: readonly KindLifecycle[],
  { group, kind, version }: KindLifecycle,
  release: string,
): KindLifecycle | undefined {
  return lifecycles
    .filter((each) => each.group === group && each.kind === kind && each.version !== version)
    .filter((each) => kindStateAt(each, release).phase === 'current' && !isGone(each, release))
    .filter((each) => compareKubeAwareVersions(each.version, version) > 0)
    .sort((a, b) => compareKubeAwareVersions(b.version, a.version))[0]
}

/**
 * Orders versions by stability, then by number: negative when `a` is older.
 *
 * @example
 * import { compareKubeAwareVersions } from '@krmkit/versioning'
 * ['v1', 'v2beta1', 'v1beta2', 'v2'].sort(compareKubeAwareVersions) // [ 'v1beta2', 'v2beta1', 'v1', 'v2' ]
 */
export function compareKubeAwareVersions(a: string, b: string): number {
  const numbers = (version: string) => (version.match(/\d+/g) ?? []).map(Number)
  const [one, two] = [numbers(a), numbers(b)]
  return (
    compareStability(stabilityOf(a) ?? 'alpha', stabilityOf(b) ?? 'alpha') ||
    (one[0] ?? 0) - (two[0] ?? 0) ||
    (one[1] ?? 0) - (two[1] ?? 0)
  )
}

/**
 * Returns the first release without a kind: as announced, or else the release after the last one that serves it or has its type. Undefined
 * when the kind is still served or its removal is not recorded.
 *
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * import { removalOf } from '@krmkit/versioning'
 * removalOf(readLifecycle().find(({ kind }) => kind === 'PodPreset')!) // '1.20'
 */
export function removalOf({ removed, typesLast, servedLast }: KindLifecycle): string | undefined {
  if (removed !== null) return removed
  const last = servedLast ?? typesLast
  if (last === null || compareReleases(last, newestRelease) >= 0) return undefined
  const [major, minor] = last.split('.')
  return `${major}.${Number(minor) + 1}`
}

/** Whether a release is known to no longer serve a kind. */
export function isGone(lifecycle: KindLifecycle, release: string): boolean {
  const removal = removalOf(lifecycle)
  if (removal !== undefined) return compareReleases(removal, release) <= 0
  // Stable kinds that are not served are kinds of request and response bodies.
  const isResource = lifecycle.list !== null && stabilityOf(lifecycle.version) !== 'stable'
  return isResource && isUnserved(lifecycle, release)
}

/**
 * Whether neither a release nor a later one is recorded to serve resources of a kind. What releases before 1.33 served is not recorded.
 *
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * import { isUnserved } from '@krmkit/versioning'
 * isUnserved(readLifecycle().find(({ kind }) => kind === 'PodPreset')!, '1.33') // true
 */
export function isUnserved({ servedLast }: KindLifecycle, release: string): boolean {
  if (compareReleases(release, firstWithServed) < 0) return false
  return servedLast === null || compareReleases(servedLast, release) < 0
}
