import { describe, expect, it } from 'vitest'
import type { Pod, PodCondition } from '../../../types/core-v1.generated.ts'
import { ignoresBudgets, withDisruptionTarget } from './eviction.ts'

const now = Date.UTC(2024, 0, 1)

function pod(status: Pod['status'], metadata: Pod['metadata'] = { name: 'p' }): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] }, ...(status ? { status } : {}) }
}

describe('ignoresBudgets', () => {
  it.each([
    ['Pending', true],
    ['Running', false],
    ['Succeeded', true],
    ['Failed', true],
    ['Unknown', false],
    ['', false],
  ])('of phase %j is %s', (phase, expected) => {
    expect(ignoresBudgets(pod({ phase }))).toBe(expected)
  })

  it('holds for a terminating pod, not for one without status', () => {
    expect(ignoresBudgets(pod({ phase: 'Running' }, { deletionTimestamp: '2024-01-01T00:00:00Z' }))).toBe(true)
    expect(ignoresBudgets(pod(undefined))).toBe(false)
  })
})

describe('withDisruptionTarget', () => {
  const target = (changes: Partial<PodCondition> = {}): PodCondition => ({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: '2024-01-01T00:00:00Z',
    ...changes,
  })
  const ready = { type: 'Ready', status: 'True' }

  it('appends the condition and leaves its argument unchanged', () => {
    const before = pod({ phase: 'Running', conditions: [ready] })
    expect(withDisruptionTarget(before, now).status).toEqual({ phase: 'Running', conditions: [ready, target()] })
    expect(before.status?.conditions).toEqual([ready])
    expect(withDisruptionTarget(pod(undefined), now).status).toEqual({ conditions: [target()] })
  })

  it('replaces the condition in its place; one that held keeps its time', () => {
    const before = '2023-01-01T00:00:00Z'
    const replaced = (old: PodCondition) => withDisruptionTarget(pod({ conditions: [old, ready] }), now).status?.conditions
    expect(replaced(target({ reason: 'Other', lastTransitionTime: before }))).toEqual([
      target({ lastTransitionTime: before }),
      ready,
    ])
    expect(replaced(target({ status: 'False', lastTransitionTime: before }))).toEqual([target(), ready])
    expect(replaced(target({ lastTransitionTime: null }))).toEqual([target(), ready])
  })
})
