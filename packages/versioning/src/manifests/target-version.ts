import { conversionBetween, type KindLifecycle } from '@krmkit/kinds'
import { type FormerConvert, formerConversion, formerKinds } from '@krmkit/kinds/former-versions'
import { formatApiVersion, type GroupVersionKind } from '@krmkit/meta'
import { kindStateAt } from '../kind-lifecycle.ts'
import { keyOf, lifecycleTable } from '../lifecycle-table.ts'
import { compareReleases } from '../release.ts'
import { compareKubeAwareVersions, isGone, removalOf } from '../replacements.ts'

/** The version to convert an object to, and the conversion. */

export type Target =
  /** The object needs no conversion. */
  | { readonly kind: 'keep' }
  | { readonly kind: 'convert'; readonly to: GroupVersionKind; readonly convert: FormerConvert }
  /** The release does not serve the object, and no version that it serves is known. */
  | { readonly kind: 'none'; readonly message: string }

const keep: Target = { kind: 'keep' }

/** Chooses target versions by the recorded lifecycles. */
export class TargetVersions {
  readonly #table = lifecycleTable()

  /** Returns the same kind in another version, if that version and a conversion to it exist. */
  toVersion(from: GroupVersionKind, version: Omit<GroupVersionKind, 'kind'>): Target {
    const to = { ...version, kind: from.kind }
    if (keyOf(from) === keyOf(to)) return keep
    const convert = this.#conversion(from, to)
    return convert === undefined ? keep : { kind: 'convert', to, convert }
  }

  /**
   * Returns a version that the release serves and does not deprecate, if the given version is deprecated, removed, or not
   * yet introduced.
   *
   * @throws VersioningError `InvalidRelease`
   */
  forRelease(from: GroupVersionKind, release: string): Target {
    const known = this.#table.find(from)
    if (known === undefined) return keep
    const phase = phaseAt(known, release)
    if (phase === 'current') return keep
    const candidates = this.#versionsOf(from)
      .filter((each) => keyOf(each) !== keyOf(from))
      .map((each) => ({ each, phase: phaseAt(each, release) }))
      .filter((candidate) => candidate.phase === 'current' || (candidate.phase === 'deprecated' && phase !== 'deprecated'))
      .sort((a, b) => rank(b.phase) - rank(a.phase) || compareKubeAwareVersions(b.each.version, a.each.version))
    for (const { each } of candidates) {
      const to = { group: each.group, version: each.version, kind: each.kind }
      const convert = this.#conversion(from, to)
      if (convert !== undefined) return { kind: 'convert', to, convert }
    }
    if (phase === 'deprecated') return keep
    const name = `${formatApiVersion(from)} ${from.kind}`
    const removed = removalOf(known)
    const why =
      phase === 'future'
        ? `was added in Kubernetes ${known.introduced}`
        : removed === undefined
          ? `is not served by Kubernetes ${release}`
          : `was removed in Kubernetes ${removed}`
    return { kind: 'none', message: `${name} ${why}, and Kubernetes ${release} has no version of it` }
  }

  /** Returns all versions of a kind, including those in other groups. */
  #versionsOf({ group, version, kind }: GroupVersionKind): KindLifecycle[] {
    const own = `${group}/${version}`
    const former = formerKinds.find((each) => each.kind === kind && (each.group === group || Object.hasOwn(each.versions, own)))
    const others = Object.keys(former?.versions ?? {}).map((name) => (name.includes('/') ? name : `${former?.group}/${name}`))
    return this.#table.all.filter(
      (each) =>
        each.kind === kind &&
        (each.group === group || each.group === former?.group || others.includes(`${each.group}/${each.version}`)),
    )
  }

  #conversion(from: GroupVersionKind, to: GroupVersionKind): FormerConvert | undefined {
    const former = formerConversion(from, to)
    if (former !== undefined) return former
    const areVersions = from.group === to.group && this.#table.find(from) !== undefined && this.#table.find(to) !== undefined
    if (!areVersions || from.group !== 'resource.k8s.io') {
      const isAutoscaler = from.group === 'autoscaling' && from.kind === 'HorizontalPodAutoscaler'
      if (!areVersions || !isAutoscaler) return undefined
    }
    return conversionBetween(from, to)
  }
}

function rank(phase: string): number {
  return phase === 'current' ? 1 : 0
}

function phaseAt(lifecycle: KindLifecycle, release: string): 'future' | 'current' | 'deprecated' | 'removed' {
  if (isGone(lifecycle, release)) return 'removed'
  const { phase } = kindStateAt(lifecycle, release)
  const { typesFirst } = lifecycle
  // Some announcements are more recent than the version.
  if (phase === 'future' && typesFirst !== null && compareReleases(typesFirst, release) <= 0) return 'current'
  return phase
}
