import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Toleration } from './pod.ts'
import { areTolerationsAllowed, mergeTolerations } from './tolerations.ts'

/** The pairwise rules, as specified. */
function isSame(a: Toleration, b: Toleration): boolean {
  const members = (each: Toleration) => [
    each.key ?? '',
    each.operator ?? '',
    each.value ?? '',
    each.effect ?? '',
    each.tolerationSeconds,
  ]
  return members(a).every((member, i) => member === members(b)[i])
}

function covers(one: Toleration, other: Toleration): boolean {
  if (isSame(one, other)) return true
  const { key = '', operator = '', value = '', effect = '' } = one
  if (key !== (other.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (other.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && one.tolerationSeconds !== undefined) {
    if (other.tolerationSeconds === undefined || other.tolerationSeconds > one.tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  return (operator === 'Equal' || operator === '') && other.operator === 'Equal' && (other.value ?? '') === value
}

function merge(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [i, each] of all.entries()) {
    if (merged.some((kept) => covers(kept, each))) continue
    if (all.slice(i + 1).some((later) => !isSame(later, each) && covers(later, each))) continue
    merged.push(each)
  }
  return merged
}

const choices = {
  key: [undefined, 'a', 'b'],
  operator: [undefined, 'Exists', 'Equal', 'odd'],
  value: [undefined, 'x', 'y'],
  effect: [undefined, 'NoExecute', 'NoSchedule'],
  tolerationSeconds: [undefined, 0, 1, 5],
}

function lists(seed: number): Toleration[][] {
  const bytes = seededRandom(seed).bytes(4096)
  let at = 0
  const pick = <T>(from: readonly T[]): T => from[(bytes[at++ % bytes.length] as number) % from.length] as T
  const one = (): Toleration =>
    Object.fromEntries(
      Object.entries(choices).flatMap(([name, values]): [string, unknown][] => {
        const value = pick<unknown>(values)
        return value === undefined ? [] : [[name, value]]
      }),
    )
  return Array.from({ length: 40 }, () => Array.from({ length: pick([0, 1, 2, 3, 5, 8]) }, one))
}

describe('tolerations', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('merges and allows like the pairwise rules, seed %i', (seed) => {
    const given = lists(seed)
    for (const [i, first] of given.entries()) {
      const second = given[(i + 1) % given.length] as Toleration[]
      expect(mergeTolerations(first, second)).toEqual(merge(first, second))
      const allowed = second.length === 0 || first.every((each) => second.some((one) => covers(one, each)))
      expect(areTolerationsAllowed(first, second)).toBe(allowed)
    }
  })

  it('reads each toleration a constant number of times', () => {
    let reads = 0
    const counted = (i: number): Toleration => ({
      get key() {
        reads++
        return `key-${i}`
      },
      operator: 'Exists',
    })
    const many = Array.from({ length: 2000 }, (_, i) => counted(i))
    expect(mergeTolerations(many, many)).toHaveLength(2000)
    expect(reads).toBeLessThan(20 * many.length)
  })
})
