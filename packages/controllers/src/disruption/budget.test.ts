import { describe, expect, it } from 'vitest'
import {
  type Budget,
  budgetStatus,
  countHealthy,
  desiredPods,
  disruptedPods,
  evictionMs,
  failedStatus,
  type Pod,
} from './budget.ts'

const now = Date.UTC(2024, 4, 1, 10)
const scale = (count: number) => () => Promise.resolve(count)
const noScale = () => Promise.reject(new Error('not asked for'))

function pod(name: string, options: { readonly ready?: boolean; readonly going?: boolean } = {}): Pod {
  const { ready = true, going = false } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(going ? { deletionTimestamp: '2024-05-01T09:00:00Z' } : {}) },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}

function budget(status: Budget['status'] = {}): Budget {
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b', generation: 3 }, status }
}

describe('desiredPods', () => {
  it.each([
    ['absolute minAvailable', { minAvailable: 2 }, 5, noScale, { expectedPods: 5, desiredHealthy: 2 }],
    ['minAvailable in percent, rounded up', { minAvailable: '50%' }, 2, scale(5), { expectedPods: 5, desiredHealthy: 3 }],
    ['absolute maxUnavailable', { maxUnavailable: 1 }, 2, scale(3), { expectedPods: 3, desiredHealthy: 2 }],
    ['maxUnavailable in percent, rounded up', { maxUnavailable: '30%' }, 9, scale(10), { expectedPods: 10, desiredHealthy: 7 }],
    ['maxUnavailable above the number of pods', { maxUnavailable: 9 }, 2, scale(3), { expectedPods: 3, desiredHealthy: 0 }],
    ['neither field', {}, 4, noScale, { expectedPods: 0, desiredHealthy: 0 }],
  ] as const)('%s', async (_, spec, count, counted, wanted) => {
    expect(await desiredPods(spec, count, counted)).toEqual(wanted)
  })
})

describe('countHealthy', () => {
  it('counts pods that are ready, not terminating and not evicted', () => {
    const pods = [pod('a'), pod('b', { ready: false }), pod('c', { going: true }), pod('d'), pod('constructor')]
    expect(countHealthy(pods, { d: '2024-05-01T10:00:00Z' })).toBe(2)
  })
})

describe('disruptedPods', () => {
  it('keeps evictions until the pod is deleted or two minutes have passed', () => {
    const evicted = {
      fresh: '2024-05-01T09:59:30Z',
      old: '2024-05-01T09:57:59Z',
      going: '2024-05-01T09:59:30Z',
      unknown: '2024-05-01T09:59:30Z',
    }
    const pods = [pod('fresh'), pod('old'), pod('going', { going: true })]
    const { pods: left, recheckAtMs } = disruptedPods(budget({ disruptedPods: evicted }), pods, now)
    expect(left).toEqual({ fresh: evicted.fresh })
    expect(recheckAtMs).toBe(now - 30_000 + evictionMs)
  })
})

describe('budgetStatus', () => {
  const counted = { expectedPods: 3, desiredHealthy: 2, currentHealthy: 3, disruptedPods: {} }

  it('allows disruptions above the desired number [P4]', () => {
    expect(budgetStatus(budget(), counted, now)).toEqual({
      observedGeneration: 3,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'True',
          reason: 'SufficientPods',
          message: '',
          observedGeneration: 3,
          lastTransitionTime: '2024-05-01T10:00:00Z',
        },
      ],
    })
  })

  it('allows nothing below the desired number or without pods', () => {
    expect(budgetStatus(budget(), { ...counted, currentHealthy: 1 }, now).disruptionsAllowed).toBe(0)
    expect(budgetStatus(budget(), { ...counted, expectedPods: 0 }, now).disruptionsAllowed).toBe(0)
    const [condition] = budgetStatus(budget(), { ...counted, currentHealthy: 1 }, now).conditions!
    expect(condition).toMatchObject({ status: 'False', reason: 'InsufficientPods' })
  })

  it('keeps the transition time of an unchanged condition, and other conditions', () => {
    const other = { type: 'Other', status: 'True', reason: 'X', message: '', lastTransitionTime: null }
    const first = budgetStatus(budget({ conditions: [other] }), counted, now)
    const second = budgetStatus(budget(first), { ...counted, currentHealthy: 4 }, now + 60_000)
    expect(second.conditions).toEqual(first.conditions)
    const third = budgetStatus(budget(second), { ...counted, currentHealthy: 0 }, now + 60_000)
    expect(third.conditions![1]!.lastTransitionTime).toBe('2024-05-01T10:01:00Z')
  })

  it('allows nothing when counting failed, and keeps the previous counts', () => {
    const status = failedStatus(budget(budgetStatus(budget(), counted, now)), 'no controller', now)
    expect(status).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 3, expectedPods: 3 })
    expect(status.conditions![0]).toMatchObject({ status: 'False', reason: 'SyncFailed', message: 'no controller' })
  })
})
