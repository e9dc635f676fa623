import { validateApiPlan, validateElementLifecycle } from '../deprecation-rules.ts'
import type { ApiVersionLifecycle, ReleaseCalendar } from '../interfaces.ts'
import { compareReleases } from '../release.ts'
import { compareKubeAwareVersions } from '../replacements.ts'
import { compareStability, stabilityOf } from '../stability.ts'
import { compareSchemas, pairOf } from './compare-schemas.ts'
import type { ApiSurface, SurfaceChange, SurfaceKind } from './interfaces.ts'

/** Compares two surfaces by the deprecation policy. */

/** The first release of Kubernetes whose types state the values of enumerations. */
const firstWithEnums = '1.23'

export interface CompareSurfacesOptions {
  /** Dates of releases, for periods in months. Missing releases count as three per year. */
  readonly calendar?: ReleaseCalendar
}

/**
 * Compares two surfaces. A change that violates the deprecation policy has the number of the violated rule.
 *
 * Support periods are checked if both surfaces have a release; otherwise a removed beta version must have been deprecated.
 *
 * @throws VersioningError `InvalidRelease`, `InvalidLifecycle`
 * @example
 * import { compareSurfaces, surfaceOfRelease } from '@krmkit/versioning/surface'
 * const changes = compareSurfaces(surfaceOfRelease('1.24'), surfaceOfRelease('1.25'))
 * changes.filter(({ rule }) => rule !== undefined) // []
 * changes.find(({ subject }) => subject === 'batch/v1beta1 CronJob')?.sort // 'removed'
 * @see API protocol specification, 9.3
 */
export function compareSurfaces(
  before: ApiSurface,
  after: ApiSurface,
  { calendar = {} }: CompareSurfacesOptions = {},
): SurfaceChange[] {
  const comparison = new SurfaceComparison(before, after, calendar)
  return [...comparison.kinds(), ...comparison.roundTrips(), ...comparison.storage(), ...comparison.elements()]
}

const nameOf = ({ group, version, kind }: SurfaceKind): string => `${group === '' ? '' : `${group}/`}${version} ${kind}`

class SurfaceComparison {
  readonly #before: ApiSurface
  readonly #after: ApiSurface
  readonly #calendar: ReleaseCalendar
  readonly #seen = new Set<string>()

  constructor(before: ApiSurface, after: ApiSurface, calendar: ReleaseCalendar) {
    this.#before = before
    this.#after = after
    this.#calendar = calendar
  }

  /** Rules 1, 3, 4a and 6. */
  kinds(): SurfaceChange[] {
    const old = new Map(this.#before.kinds.map((each) => [nameOf(each), each]))
    const next = new Map(this.#after.kinds.map((each) => [nameOf(each), each]))
    // A kind nested in another kind, such as a claim in a template, is compared only as a kind.
    for (const [name, each] of next) {
      const former = old.get(name)?.schema
      const pair = former === undefined || each.schema === undefined ? undefined : pairOf(former, each.schema)
      if (pair !== undefined) this.#seen.add(pair)
    }
    const removed = [...old].filter(([name]) => !next.has(name)).map(([, each]) => this.#removed(each))
    const others = [...next].flatMap(([name, each]) => {
      const former = old.get(name)
      if (former === undefined) return [change('added', name, '', 'it is added'), ...this.#announcement(each, undefined)]
      return [...this.#announcement(each, former), ...this.#fields(former, each)]
    })
    return [...removed, ...others]
  }

  #removed(kind: SurfaceKind): SurfaceChange {
    const { version, deprecatedSince, deprecated } = kind
    const subject = nameOf(kind)
    const stability = stabilityOf(version)
    if (stability === undefined || stability === 'alpha') return change('removed', subject, '', 'it is removed')
    const { release } = this.#after
    // A release in between may have deprecated the version.
    const earliest = this.#before.release === undefined || release === undefined ? undefined : releaseAfter(this.#before.release)
    const isBetween = deprecated !== true && earliest !== undefined && compareReleases(earliest, release ?? earliest) < 0
    const since = deprecatedSince ?? (isBetween ? earliest : undefined)
    const isAnnounced = deprecated === true || deprecatedSince !== undefined
    // Without releases only the announcement can be checked.
    const lifecycle: ApiVersionLifecycle = {
      version,
      introduced: since ?? '1.0',
      removed: release ?? '1.9999',
      ...(since !== undefined ? { deprecated: since } : isAnnounced ? { deprecated: '1.0' } : {}),
    }
    const [violation] = validateApiPlan({ versions: [lifecycle] }, { calendar: this.#calendar })
    if (violation === undefined) return change('removed', subject, '', 'it is removed')
    const why =
      stability === 'stable'
        ? 'it is removed, but a stable version must be served for the whole major release'
        : isAnnounced
          ? `it is removed in ${release}, but was deprecated in ${deprecatedSince}: it must be served for 9 months and 3 releases after that`
          : 'it is removed without having been deprecated'
    return change('removed', subject, '', why, violation.rule)
  }

  #announcement(kind: SurfaceKind, former: SurfaceKind | undefined): SurfaceChange[] {
    const { deprecated, replacement, version, warns } = kind
    if (deprecated !== true || former?.deprecated === true) return []
    const subject = nameOf(kind)
    const changes = [
      change(
        'deprecated',
        subject,
        '',
        replacement === undefined ? 'it is deprecated' : `it is deprecated in favor of ${replacement}`,
      ),
    ]
    const [own, other] = [stabilityOf(version), replacement === undefined ? undefined : stabilityOf(replacement)]
    if (own !== undefined && other !== undefined && compareStability(other, own) < 0)
      changes.push(change('deprecated', subject, '', `it is deprecated in favor of the less stable ${replacement}`, '3'))
    if (replacement === undefined && own !== undefined) changes.push(...this.#withoutSuccessor(kind))
    if (warns === false) changes.push(change('deprecated', subject, '', 'its use must give a warning', '6'))
    return changes
  }

  /** A version can be deprecated only once an equally stable version exists, unless the kind is discontinued. */
  #withoutSuccessor(kind: SurfaceKind): SurfaceChange[] {
    const own = stabilityOf(kind.version)
    const others = this.#after.kinds.filter(
      (each) => each.group === kind.group && each.kind === kind.kind && each.version !== kind.version && each.deprecated !== true,
    )
    if (own === undefined || others.length === 0) return []
    const isReplaced = others.some(({ version }) => {
      const stability = stabilityOf(version)
      return stability !== undefined && compareStability(stability, own) >= 0
    })
    if (isReplaced) return []
    const [best] = others.map(({ version }) => version).sort((a, b) => compareKubeAwareVersions(b, a))
    return [change('deprecated', nameOf(kind), '', `it is deprecated, but the other version ${best} is less stable`, '3')]
  }

  #fields(before: SurfaceKind, after: SurfaceKind): SurfaceChange[] {
    if (before.schema === undefined || after.schema === undefined) return []
    const isAlpha = stabilityOf(after.version) === 'alpha'
    const { release } = this.#before
    const statesEnums = release === undefined || compareReleases(release, firstWithEnums) >= 0
    return compareSchemas(before.schema, after.schema, { seen: this.#seen, statesEnums }).map(
      ({ sort, path, message, breaking }) => change(sort, nameOf(after), path, message, breaking && !isAlpha ? '1' : undefined),
    )
  }

  /** Rule 2: versions that are converted by name must have the same fields. */
  roundTrips(): SurfaceChange[] {
    return this.#after.kinds.flatMap((stored) => {
      if (stored.storage !== true || stored.convertedByName !== true || stored.schema === undefined) return []
      const others = this.#after.kinds.filter(
        (each) => each.group === stored.group && each.kind === stored.kind && each.version !== stored.version,
      )
      return others.flatMap((each) => {
        if (each.schema === undefined || stored.schema === undefined) return []
        const lost = [
          ...lostMembers(each, stored).map((difference) => ({ ...difference, from: each, to: stored })),
          ...lostMembers(stored, each).map((difference) => ({ ...difference, from: stored, to: each })),
        ]
        return lost.map(({ path, sort, from, to }) => {
          const what = sort === 'removed' ? `${to.version} does not have it` : `it has another type in ${to.version}`
          return change('changed', nameOf(from), path, `${what}, so objects lose it on the way there and back`, '2')
        })
      })
    })
  }

  /** Rule 4b. */
  storage(): SurfaceChange[] {
    return this.#after.kinds.flatMap((kind) => {
      if (kind.storage !== true) return []
      const former = this.#before.kinds.filter((each) => each.group === kind.group && each.kind === kind.kind)
      const old = former.find((each) => each.storage === true)
      if (old === undefined || old.version === kind.version) return []
      const subject = nameOf(kind)
      const message = `the storage version changes from ${old.version} to ${kind.version}`
      const servedBoth = former.some((each) => each.version === kind.version)
      return servedBoth
        ? [change('changed', subject, '', message)]
        : [change('changed', subject, '', `${message}, but ${this.#before.name} does not serve ${kind.version} yet`, '4b')]
    })
  }

  /** Rules 5 to 9. */
  elements(): SurfaceChange[] {
    const [old, next] = [this.#before.elements ?? [], this.#after.elements ?? []]
    const removed = old
      .filter(({ name, element }) => !next.some((each) => each.name === name && each.element === element))
      .flatMap(({ name, ...lifecycle }): SurfaceChange[] => {
        const release = this.#after.release
        const removal = release === undefined ? {} : { removed: release }
        const violations = validateElementLifecycle({ ...lifecycle, ...removal }, { calendar: this.#calendar })
        return [
          change('removed', name, '', 'it is removed'),
          ...violations.map(({ rule, message }) => change('removed', name, '', message, rule)),
        ]
      })
    const announced = next.flatMap(({ name, ...lifecycle }): SurfaceChange[] => {
      const former = old.find((each) => each.name === name && each.element === lifecycle.element)
      if (lifecycle.deprecated === undefined || former?.deprecated !== undefined) return []
      const violations = validateElementLifecycle(lifecycle, { calendar: this.#calendar })
      return [
        change('deprecated', name, '', `it is deprecated in ${lifecycle.deprecated}`),
        ...violations.map(({ rule, message }) => change('deprecated', name, '', message, rule)),
      ]
    })
    return [...removed, ...announced]
  }
}

function releaseAfter(release: string): string {
  const [major, minor] = release.split('.')
  return `${major}.${Number(minor) + 1}`
}

/** Returns the members that objects of one version lose as objects of another. */
function lostMembers(from: SurfaceKind, to: SurfaceKind) {
  if (from.schema === undefined || to.schema === undefined) return []
  return compareSchemas(from.schema, to.schema).filter(
    ({ sort, breaking, message }) => breaking && (sort === 'removed' || message.startsWith('its type')),
  )
}

function change(
  sort: SurfaceChange['sort'],
  subject: string,
  path: string,
  message: string,
  rule?: SurfaceChange['rule'],
): SurfaceChange {
  return { sort, subject, path, message, ...(rule === undefined ? {} : { rule }) }
}
