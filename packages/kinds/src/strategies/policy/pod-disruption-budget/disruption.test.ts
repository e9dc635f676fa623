import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../types/core-v1.generated.ts'
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../../types/policy-v1.generated.ts'
import { protectingBudget, takeDisruption } from './disruption.ts'

const now = Date.UTC(2024, 0, 1)
const selector = { matchLabels: { app: 'web' } }
const sufficient: PodDisruptionBudgetStatus = { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 }

function budget(spec: PodDisruptionBudgetSpec, status?: PodDisruptionBudgetStatus, generation = 1): PodDisruptionBudget {
  const metadata = { name: 'b', generation }
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec, ...(status ? { status } : {}) }
}

function pod(app: string, ready: 'True' | 'False'): Pod {
  const status = { conditions: [{ type: 'Ready', status: ready }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { app } }, spec: { containers: [] }, status }
}

describe('protectingBudget', () => {
  it('is the budget that selects the pod', () => {
    const own = budget({ selector }, sufficient)
    const other = budget({ selector: { matchLabels: { app: 'db' } } })
    expect(protectingBudget([other, own], pod('web', 'True'))).toEqual({ budget: own, isCharged: true })
    expect(protectingBudget([other], pod('web', 'True'))).toBeUndefined()
  })

  it('an empty selector selects every pod, an absent one none', () => {
    const every = budget({ selector: {} })
    expect(protectingBudget([every], pod('web', 'True'))?.budget).toBe(every)
    expect(protectingBudget([budget({})], pod('web', 'True'))).toBeUndefined()
  })

  it('refuses several budgets for one pod', () => {
    expect(() => protectingBudget([budget({ selector }), budget({ selector: {} })], pod('web', 'True'))).toThrow(
      expect.objectContaining({ code: 500, message: expect.stringContaining('more than one PodDisruptionBudget') }),
    )
  })

  it.each([
    ['the healthy pods suffice', budget({ selector }, sufficient), true],
    ['the healthy pods do not suffice', budget({ selector }, { ...sufficient, currentHealthy: 0 }), false],
    ['no healthy pod is desired', budget({ selector }, { ...sufficient, desiredHealthy: 0 }), false],
    ['the policy always allows it', budget({ selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' }), true],
    ['the status is absent', budget({ selector, unhealthyPodEvictionPolicy: 'IfHealthyBudget' }), false],
  ])('for an unready pod when %s', (_, subject, spared) => {
    expect(protectingBudget([subject], pod('web', 'False'))).toEqual({ budget: subject, isCharged: !spared })
  })
})

describe('takeDisruption', () => {
  it('counts down and notes the evicted pod', () => {
    const before = budget({ selector }, { ...sufficient, observedGeneration: 1, disruptedPods: { o: '2023-01-01T00:00:00Z' } })
    const frozen = structuredClone(before)
    expect(takeDisruption(before, 'p', now).status).toEqual({
      ...before.status,
      disruptionsAllowed: 1,
      disruptedPods: { o: '2023-01-01T00:00:00Z', p: '2024-01-01T00:00:00Z' },
    })
    expect(before).toEqual(frozen)
  })

  it.each([
    [
      'no disruption is left',
      { ...sufficient, disruptionsAllowed: 0, observedGeneration: 1 },
      'needs 1 healthy pods and has 3 currently',
    ],
    ['the spec is newer than the status', { ...sufficient, observedGeneration: 0 }, 'is still being processed by the server.'],
    ['there is no status', undefined, 'is still being processed by the server.'],
  ])('refuses when %s', (_, status, message) => {
    const causes = [{ reason: 'DisruptionBudget', message: `The disruption budget b ${message}` }]
    expect(() => takeDisruption(budget({ selector }, status), 'p', now)).toThrow(
      expect.objectContaining({ code: 429, status: expect.objectContaining({ details: expect.objectContaining({ causes }) }) }),
    )
  })
})
