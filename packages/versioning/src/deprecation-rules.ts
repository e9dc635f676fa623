import type { ApiPlan, ApiVersionLife, Element, ElementLife, ReleaseCalendar, RuleBreach, Stability } from './interfaces.ts'
import { compareReleases, monthsBetween, releasesBetween, sameMajor } from './release.ts'
import { compareStability, stabilityOf } from './stability.ts'
import { VersioningError } from './versioning-error.ts'

/**
 * The deprecation rules as questions about plans. Rule 2 (nothing is lost between versions) is about objects, not plans:
 * conversions show it.
 *
 * @see API protocol specification, 9.3
 */

/** Both must be over: whichever is longer. */
interface Term {
  readonly months: number
  readonly releases: number
}

const none: Term = { months: 0, releases: 0 }
const betaApi: Term = { months: 9, releases: 3 }
const shortNotice: Term = { months: 3, releases: 1 }
const year: Term = { months: 12, releases: 0 }
/** Support of a stable metric as a whole. */
const stableMetric: Term = { months: 12, releases: 4 }

/** How long a thing works after its deprecation, and the rule that says so. */
const terms: Readonly<
  Record<Element, { readonly rule: RuleBreach['rule']; readonly warns: RuleBreach['rule'] | undefined } & Record<Stability, Term>>
> = {
  userCommand: { rule: '5a', warns: '6', stable: { months: 12, releases: 2 }, beta: shortNotice, alpha: none },
  adminCommand: { rule: '5b', warns: '6', stable: { months: 6, releases: 1 }, beta: shortNotice, alpha: none },
  behavior: { rule: '7', warns: undefined, stable: year, beta: year, alpha: year },
  graduatedGate: { rule: '8', warns: '9', stable: { months: 6, releases: 2 }, beta: { months: 6, releases: 2 }, alpha: none },
  abandonedGate: { rule: '8', warns: '9', stable: shortNotice, beta: shortNotice, alpha: none },
  metric: { rule: '9b', warns: undefined, stable: { months: 9, releases: 3 }, beta: none, alpha: none },
}

export interface RuleOptions {
  readonly calendar?: ReleaseCalendar
}

/**
 * What a group's plan for its versions has against rules 1, 3, 4a, 4b and 6; empty when it keeps them.
 *
 * @throws VersioningError `InvalidRelease`; `InvalidLife` for lives that end before they begin and for unknown versions.
 */
export function apiPlanBreaches(plan: ApiPlan, { calendar }: RuleOptions = {}): RuleBreach[] {
  const byName = new Map(plan.versions.map((life) => [life.version, life]))
  return [...plan.versions.flatMap((life) => versionBreaches(life, calendar)), ...advanceBreaches(plan, byName)]
}

function versionBreaches(life: ApiVersionLife, calendar: ReleaseCalendar | undefined): RuleBreach[] {
  const { version, introduced, deprecated, removed, replacement, drops = [] } = life
  const stability = requireStability(version)
  checkOrder(version, [introduced, deprecated, removed])
  const breaches: RuleBreach[] = []
  const breach = (rule: RuleBreach['rule'], message: string) => void breaches.push({ rule, subject: version, message })
  if (stability !== 'alpha') for (const part of drops) breach('1', `${part} can only go with a new version of the group`)
  if (replacement !== undefined && compareStability(requireStability(replacement), stability) < 0)
    breach('3', `${replacement} is less stable than ${version} and cannot replace it`)
  if (removed !== undefined && stability === 'stable' && sameMajor(introduced, removed))
    breach('4a', `${version} is stable and stays for the whole major release`)
  if (removed !== undefined && stability === 'beta') {
    if (deprecated === undefined) breach('4a', `${version} is removed in ${removed} without having been deprecated`)
    else if (!isOver(betaApi, deprecated, removed, calendar))
      breach('4a', `${version} is deprecated in ${deprecated} and cannot go before ${inWords(betaApi)} are over`)
  }
  if (deprecated !== undefined && life.warns === false) breach('6', `using ${version} must warn from ${deprecated} on`)
  return breaches
}

function advanceBreaches({ advances = [] }: ApiPlan, byName: ReadonlyMap<string, ApiVersionLife>): RuleBreach[] {
  const known = (version: string): ApiVersionLife => {
    const life = byName.get(version)
    if (life === undefined) throw new VersioningError('InvalidLife', `the plan does not tell about ${version}`)
    return life
  }
  return advances.flatMap(({ release, version }, i): RuleBreach[] => {
    const next = known(version)
    const before = advances[i - 1]
    if (before === undefined) return []
    const old = known(before.version)
    // Some release before this one had both.
    const both = compareReleases(next.introduced, old.introduced) > 0 ? next.introduced : old.introduced
    const together = compareReleases(both, release) < 0 && (old.removed === undefined || compareReleases(both, old.removed) < 0)
    if (together) return []
    const message = `${version} cannot take over from ${old.version} in ${release}: no release before it has both`
    return [{ rule: '4b', subject: version, message }]
  })
}

/**
 * What the plan for something that is no API version has against rules 5 to 9; empty when it keeps them.
 *
 * @throws VersioningError `InvalidRelease`, `InvalidLife`
 */
export function elementBreaches(life: ElementLife, { calendar }: RuleOptions = {}): RuleBreach[] {
  const { element, stability, introduced, deprecated, removed } = life
  checkOrder(element, [introduced, deprecated, removed])
  const { rule, warns, [stability]: term } = terms[element]
  const breaches: RuleBreach[] = []
  const breach = (broken: RuleBreach['rule'], message: string) =>
    void breaches.push({ rule: broken, subject: `${stability} ${element}`, message })
  if (removed !== undefined && term !== none) {
    if (deprecated === undefined) breach(rule, `it is removed in ${removed} without having been deprecated`)
    else if (!isOver(term, deprecated, removed, calendar))
      breach(rule, `it is deprecated in ${deprecated} and must work until ${inWords(term)} are over`)
  }
  if (element === 'metric' && stability === 'stable' && introduced !== undefined && removed !== undefined) {
    if (!isOver(stableMetric, introduced, removed, calendar))
      breach('9a', `it must be there until ${inWords(stableMetric)} are over`)
  }
  if (warns !== undefined && deprecated !== undefined && life.warns === false)
    breach(warns, `using it must warn from ${deprecated} on`)
  return breaches
}

function isOver({ months, releases }: Term, from: string, to: string, calendar: ReleaseCalendar | undefined): boolean {
  return releasesBetween(from, to) >= releases && monthsBetween(from, to, calendar) >= months
}

function inWords({ months, releases }: Term): string {
  return releases === 0 ? `${months} months` : `${months} months and ${releases} releases`
}

function requireStability(version: string): Stability {
  const stability = stabilityOf(version)
  if (stability === undefined) throw new VersioningError('InvalidLife', `${JSON.stringify(version)} is no version's name`)
  return stability
}

function checkOrder(subject: string, releases: readonly (string | undefined)[]): void {
  const told = releases.filter((release) => release !== undefined)
  told.forEach((release, i) => {
    const before = told[i - 1]
    if (compareReleases(before ?? release, release) > 0)
      throw new VersioningError('InvalidLife', `${subject}: ${release} comes before ${before}`)
  })
}
