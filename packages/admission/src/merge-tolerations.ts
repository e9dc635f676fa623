import type { DeepReadonly } from '@krmkit/meta'
import type { Toleration } from './pod.ts'

/** Set algebra of tolerations. */

/** Both lists as one; what another toleration covers is left out, and of equal ones the first stays. */
export function mergeTolerations(
  first: readonly DeepReadonly<Toleration>[],
  second: readonly DeepReadonly<Toleration>[],
): Toleration[] {
  const all = [...first, ...second]
  const merged: DeepReadonly<Toleration>[] = []
  for (const [i, each] of all.entries()) {
    if (merged.some((kept) => covers(kept, each))) continue
    if (all.slice(i + 1).some((later) => !isSame(later, each) && covers(later, each))) continue
    merged.push(each)
  }
  return merged.map((each) => ({ ...each }))
}

/** Whether every toleration is covered by one of the list. An empty list allows all. */
export function areAllowed(
  tolerations: readonly DeepReadonly<Toleration>[],
  allowed: readonly DeepReadonly<Toleration>[],
): boolean {
  return allowed.length === 0 || tolerations.every((each) => allowed.some((one) => covers(one, each)))
}

/** Whether the first tolerates all that the second does. */
export function covers(one: DeepReadonly<Toleration>, other: DeepReadonly<Toleration>): boolean {
  if (isSame(one, other)) return true
  const { key = '', operator = '', value = '', effect = '' } = one
  // Without a key, Exists means all of them.
  if (key !== (other.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (other.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && one.tolerationSeconds !== undefined) {
    if (other.tolerationSeconds === undefined || other.tolerationSeconds > one.tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  return (operator === 'Equal' || operator === '') && other.operator === 'Equal' && (other.value ?? '') === value
}

function isSame(a: DeepReadonly<Toleration>, b: DeepReadonly<Toleration>): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.operator ?? '') === (b.operator ?? '') &&
    (a.value ?? '') === (b.value ?? '') &&
    (a.effect ?? '') === (b.effect ?? '') &&
    a.tolerationSeconds === b.tolerationSeconds
  )
}
