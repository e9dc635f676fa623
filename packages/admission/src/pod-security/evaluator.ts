import type { Features } from '@krmkit/meta'
import { baselineChecks } from './baseline.ts'
import type { Check, CheckedPod, CheckVersion, Violation } from './check.ts'
import type { LevelVersion } from './levels.ts'
import { probeHostsId } from './probe-hosts.ts'
import { restrictedChecks } from './restricted.ts'

/** Evaluates a pod against a standard. @returns the violations, in the order of the checks. */
export type Evaluator = (standard: LevelVersion, pod: CheckedPod) => readonly Violation[]

/** The newest version of the standards in a release. Releases before 1.33 have those of 1.33, whose checks are the same. */
export function newestVersion({ release }: Pick<Features, 'release'>): number {
  return release.atLeast('1.34') ? Number(/^v?1\.(\d+)/.exec(release.version)?.[1] ?? 33) : 33
}

/** @param newest the newest version of the standards, which later ones are taken for */
export function createPodEvaluator(
  newest: number,
  { checksProbeHosts = false }: { readonly checksProbeHosts?: boolean } = {},
): Evaluator {
  const all = [...baselineChecks, ...restrictedChecks]
  const checks = checksProbeHosts ? all : all.filter(({ id }) => id !== probeHostsId)
  const byVersion = new Map<string, readonly CheckVersion[]>()
  const checksOf = ({ level, minor }: LevelVersion): readonly CheckVersion[] => {
    const release = Math.min(minor, newest)
    const key = `${level}/${release}`
    let found = byVersion.get(key)
    if (found === undefined) {
      found = checksAt(checks, level, release)
      byVersion.set(key, found)
    }
    return found
  }
  return (standard, pod) => {
    if (standard.level === 'privileged') return []
    return checksOf(standard)
      .map((check) => check.run(pod))
      .filter((violation) => violation !== undefined)
  }
}

/** The checks of a level as of a release: baseline first, each level sorted by id. */
function checksAt(checks: readonly Check[], level: LevelVersion['level'], release: number): readonly CheckVersion[] {
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

/** The reasons of all violations. */
export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason || 'unknown forbidden reason').join(', ')
}

/** The reasons of all violations with their details. */
export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}
