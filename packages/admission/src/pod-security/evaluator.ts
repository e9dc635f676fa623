import { baselineChecks } from './baseline.ts'
import type { Check, CheckedPod, CheckVersion, Violation } from './check.ts'
import type { LevelVersion } from './levels.ts'
import { restrictedChecks } from './restricted.ts'

/** What a pod breaks of a standard as it was in a release, in the order of the rules. */
export type Evaluator = (standard: LevelVersion, pod: CheckedPod) => readonly Violation[]

/** The last release in which the standards changed: later ones judge alike. */
const newestMinor = 33

/** @param checks rules of both standards; default: all that there are. */
export function podEvaluator(checks: readonly Check[] = [...baselineChecks, ...restrictedChecks]): Evaluator {
  const byVersion = new Map<string, readonly CheckVersion[]>()
  const rulesOf = ({ level, minor }: LevelVersion): readonly CheckVersion[] => {
    const release = Math.min(minor, newestMinor)
    const key = `${level}/${release}`
    let rules = byVersion.get(key)
    if (rules === undefined) {
      rules = inForce(checks, level, release)
      byVersion.set(key, rules)
    }
    return rules
  }
  return (standard, pod) => {
    if (standard.level === 'privileged') return []
    return rulesOf(standard)
      .map((rule) => rule.run(pod))
      .filter((violation) => violation !== undefined)
  }
}

/** Rules of the weaker standard come first; each group in the order of ids. */
function inForce(checks: readonly Check[], level: LevelVersion['level'], release: number): readonly CheckVersion[] {
  const at = (of: 'baseline' | 'restricted') =>
    checks
      .filter((check) => check.level === of)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap(({ id, versions }) => {
        const version = versions.findLast(({ since }) => since <= release)
        return version === undefined ? [] : [{ id, version }]
      })
  const baseline = at('baseline')
  if (level === 'baseline') return baseline.map(({ version }) => version)
  const restricted = at('restricted')
  const replaced = new Set(restricted.flatMap(({ version }) => version.replaces ?? []))
  return [...baseline.filter(({ id }) => !replaced.has(id)), ...restricted].map(({ version }) => version)
}

/** Every reason, in a few words. */
export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason || 'unknown forbidden reason').join(', ')
}

/** Every reason with its detail. */
export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}
