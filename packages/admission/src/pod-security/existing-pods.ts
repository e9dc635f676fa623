import type { DeepReadonly } from '@krmkit/meta'
import type { Pod } from '../pod.ts'
import type { Violation } from './check.ts'
import { reasonsOf } from './evaluator.ts'
import { formatLevelVersion, type LevelVersion } from './levels.ts'

/** Bounds the work of one label change. */
const maxPods = 3000

/** Warnings for a stricter `enforce` level that existing pods of the namespace violate. */
export function existingPodWarnings(
  pods: readonly DeepReadonly<Pod>[],
  {
    namespace,
    enforce,
    evaluate,
  }: {
    readonly namespace: string
    readonly enforce: LevelVersion
    readonly evaluate: (pod: DeepReadonly<Pod>) => readonly Violation[]
  },
): string[] {
  const warnings: string[] = []
  const chosen = oneOfEachControllerFirst(pods).slice(0, maxPods)
  const found = new Map<string, { readonly name: string; count: number }>()
  for (const pod of chosen) {
    const violations = evaluate(pod)
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

/** Sorts the first pod of each controller before its siblings, which are usually identical. */
function oneOfEachControllerFirst(pods: readonly DeepReadonly<Pod>[]): readonly DeepReadonly<Pod>[] {
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
