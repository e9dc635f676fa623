import type {
  ApiPlan,
  ApiVersionLifecycle,
  DeprecatableElement,
  ElementLifecycle,
  ReleaseCalendar,
  RuleViolation,
  Stability,
} from './interfaces.ts'
import { compareReleases, monthsBetween, releasesBetween, sameMajor } from './release.ts'
import { compareStability, stabilityOf } from './stability.ts'
import { VersioningError } from './versioning-error.ts'

/**
 * Checks plans against the deprecation policy. Rule 2 (objects round-trip between versions) concerns conversions and is
 * covered by their tests.
 *
 * @see API protocol specification, 9.3
 */

/** A support period: the longer of the two. */
interface Term {
  readonly months: number
  readonly releases: number
}

const none: Term = { months: 0, releases: 0 }
const betaApi: Term = { months: 9, releases: 3 }
const shortNotice: Term = { months: 3, releases: 1 }
const year: Term = { months: 12, releases: 0 }
/** Total support period of a stable metric. */
const stableMetric: Term = { months: 12, releases: 4 }

/** Support periods after deprecation, with the numbers of their rules. */
const terms: Readonly<
  Record<
    DeprecatableElement,
    { readonly rule: RuleViolation['rule']; readonly warns: RuleViolation['rule'] | undefined } & Record<Stability, Term>
  >
> = {
  userCommand: { rule: '5a', warns: '6', stable: { months: 12, releases: 2 }, beta: shortNotice, alpha: none },
  adminCommand: { rule: '5b', warns: '6', stable: { months: 6, releases: 1 }, beta: shortNotice, alpha: none },
  behavior: { rule: '7', warns: undefined, stable: year, beta: year, alpha: year },
  graduatedGate: { rule: '8', warns: '9', stable: { months: 6, releases: 2 }, beta: { months: 6, releases: 2 }, alpha: none },
  abandonedGate: { rule: '8', warns: '9', stable: shortNotice, beta: shortNotice, alpha: none },
  metric: { rule: '9b', warns: undefined, stable: { months: 9, releases: 3 }, beta: none, alpha: none },
}

export interface DeprecationRuleOptions {
  readonly calendar?: ReleaseCalendar
}

/**
 * Checks the plan of a group against rules 1, 3, 4a, 4b and 6.
 *
 * @returns the violations; empty when the plan is valid.
 * @throws VersioningError `InvalidRelease`; `InvalidLifecycle` for releases out of order and for unknown versions.
 * @example
 * import { validateApiPlan } from '@krmkit/versioning'
 * const version = { version: 'v1', introduced: '1.20', deprecated: '1.22', removed: '1.40' }
 * validateApiPlan({ versions: [version] }).map(({ rule, subject }) => `${rule} ${subject}`) // [ '4a v1' ]
 */
export function validateApiPlan(plan: ApiPlan, { calendar }: DeprecationRuleOptions = {}): RuleViolation[] {
  const byName = new Map(plan.versions.map((lifecycle) => [lifecycle.version, lifecycle]))
  return [...plan.versions.flatMap((lifecycle) => versionViolations(lifecycle, calendar)), ...advanceViolations(plan, byName)]
}

function versionViolations(lifecycle: ApiVersionLifecycle, calendar: ReleaseCalendar | undefined): RuleViolation[] {
  const { version, introduced, deprecated, removed, replacement, drops = [] } = lifecycle
  const stability = requireStability(version)
  checkOrder(version, [introduced, deprecated, removed])
  const violations: RuleViolation[] = []
  const violate = (rule: RuleViolation['rule'], message: string) => void violations.push({ rule, subject: version, message })
  if (stability !== 'alpha') for (const part of drops) violate('1', `${part} can only be removed in a new version of the group`)
  if (replacement !== undefined && compareStability(requireStability(replacement), stability) < 0)
    violate('3', `${replacement} is less stable than ${version} and cannot replace it`)
  if (removed !== undefined && stability === 'stable' && sameMajor(introduced, removed))
    violate('4a', `${version} is stable and must be served for the whole major release`)
  if (removed !== undefined && stability === 'beta') {
    if (deprecated === undefined) violate('4a', `${version} is removed in ${removed} without having been deprecated`)
    else if (!hasElapsed(betaApi, deprecated, removed, calendar))
      violate('4a', `${version} is deprecated in ${deprecated} and must be served for ${formatTerm(betaApi)} after that`)
  }
  if (deprecated !== undefined && lifecycle.warns === false)
    violate('6', `use of ${version} must give a warning from ${deprecated} on`)
  return violations
}

function advanceViolations({ advances = [] }: ApiPlan, byName: ReadonlyMap<string, ApiVersionLifecycle>): RuleViolation[] {
  const known = (version: string): ApiVersionLifecycle => {
    const lifecycle = byName.get(version)
    if (lifecycle === undefined)
      throw new VersioningError({ code: 'InvalidLifecycle', message: `the plan has no version ${version}` })
    return lifecycle
  }
  return advances.flatMap(({ release, version }, i): RuleViolation[] => {
    const next = known(version)
    const before = advances[i - 1]
    if (before === undefined) return []
    const old = known(before.version)
    // An earlier release must serve both versions.
    const both = compareReleases(next.introduced, old.introduced) > 0 ? next.introduced : old.introduced
    const together = compareReleases(both, release) < 0 && (old.removed === undefined || compareReleases(both, old.removed) < 0)
    if (together) return []
    const message = `${version} cannot replace ${old.version} in ${release}: no earlier release serves both`
    return [{ rule: '4b', subject: version, message }]
  })
}

/**
 * Checks the lifecycle of an element other than an API version against rules 5 to 9.
 *
 * @returns the violations; empty when the lifecycle is valid.
 * @throws VersioningError `InvalidRelease`, `InvalidLifecycle`
 * @example
 * import { validateElementLifecycle } from '@krmkit/versioning'
 * const flag = { element: 'adminCommand', stability: 'stable', deprecated: '1.30', removed: '1.31' } as const
 * validateElementLifecycle(flag).map(({ rule, subject }) => `${rule} ${subject}`) // [ '5b stable adminCommand' ]
 */
export function validateElementLifecycle(
  lifecycle: ElementLifecycle,
  { calendar }: DeprecationRuleOptions = {},
): RuleViolation[] {
  const { element, stability, introduced, deprecated, removed } = lifecycle
  checkOrder(element, [introduced, deprecated, removed])
  const { rule, warns, [stability]: term } = terms[element]
  const violations: RuleViolation[] = []
  const violate = (broken: RuleViolation['rule'], message: string) =>
    void violations.push({ rule: broken, subject: `${stability} ${element}`, message })
  if (removed !== undefined && term !== none) {
    if (deprecated === undefined) violate(rule, `removed in ${removed} without deprecation`)
    else if (!hasElapsed(term, deprecated, removed, calendar))
      violate(rule, `deprecated in ${deprecated}, so it must work for ${formatTerm(term)} after that`)
  }
  if (element === 'metric' && stability === 'stable' && introduced !== undefined && removed !== undefined) {
    if (!hasElapsed(stableMetric, introduced, removed, calendar))
      violate('9a', `must be supported for ${formatTerm(stableMetric)}`)
  }
  if (warns !== undefined && deprecated !== undefined && lifecycle.warns === false)
    violate(warns, `its use must give a warning from ${deprecated} on`)
  return violations
}

function hasElapsed({ months, releases }: Term, from: string, to: string, calendar: ReleaseCalendar | undefined): boolean {
  return releasesBetween(from, to) >= releases && monthsBetween(from, to, calendar) >= months
}

function formatTerm({ months, releases }: Term): string {
  return releases === 0 ? `${months} months` : `${months} months and ${releases} releases`
}

function requireStability(version: string): Stability {
  const stability = stabilityOf(version)
  if (stability === undefined)
    throw new VersioningError({ code: 'InvalidLifecycle', message: `${JSON.stringify(version)} is not a version` })
  return stability
}

function checkOrder(subject: string, releases: readonly (string | undefined)[]): void {
  const known = releases.filter((release) => release !== undefined)
  known.forEach((release, i) => {
    const before = known[i - 1]
    if (compareReleases(before ?? release, release) > 0)
      throw new VersioningError({ code: 'InvalidLifecycle', message: `${subject}: ${release} comes before ${before}` })
  })
}
