import type { DeepReadonly } from '@krmkit/meta'
import type { Pod } from '../pod.ts'
import type { Violation } from './check.ts'
import { reasonsOf } from './evaluator.ts'
import { formatLevelVersion, type LevelVersion } from './levels.ts'

/** More are not looked at: the answer to a change of labels must not take long. */
const maxPods = 3000

/** What to tell who makes the standard of a namespace stricter than what runs in it. */
export function existingPodWarnings(
  pods: readonly DeepReadonly<Pod>[],
  {
    namespace,
    enforce,
    judge,
  }: {
    readonly namespace: string
    readonly enforce: LevelVersion
    readonly judge: (pod: DeepReadonly<Pod>) => readonly Violation[]
  },
): string[] {
  const warnings: string[] = []
  const chosen = onePerController(pods).slice(0, maxPods)
  const found = new Map<string, { readonly name: string; count: number }>()
  for (const pod of chosen) {
    const violations = judge(pod)
    if (violations.length === 0) continue
    const reasons = reasonsOf(violations)
    const known = found.get(reasons)
    if (known === undefined) found.set(reasons, { name: pod.metadata.name ?? '', count: 1 })
    else known.count++
  }
  if (chosen.length < pods.length && pods.length > maxPods) {
    warnings.push(`new PodSecurity enforce level only checked against the first ${chosen.length} of ${pods.length} existing pods`)
  }
  if (found.size === 0) return warnings
  const level = JSON.stringify(formatLevelVersion(enforce))
  warnings.push(`existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${level}`)
  const each = [...found].map(([reasons, { name, count }]) => {
    if (count === 1) return `${name}: ${reasons}`
    return `${name} (and ${count - 1} other ${count === 2 ? 'pod' : 'pods'}): ${reasons}`
  })
  return [...warnings, ...each.sort()]
}

/** Pods of one controller are alike: the first of each comes before the others. */
function onePerController(pods: readonly DeepReadonly<Pod>[]): readonly DeepReadonly<Pod>[] {
  const seen = new Set<string>()
  const first: DeepReadonly<Pod>[] = []
  const others: DeepReadonly<Pod>[] = []
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
    if (controller !== undefined && seen.has(controller)) others.push(pod)
    else first.push(pod)
    if (controller !== undefined) seen.add(controller)
  }
  return [...first, ...others]
}
