import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { StrategyContext } from '../../../interfaces.ts'
import type { NetworkPolicy } from '../../../types/networking-v1.generated.ts'
import { runValidation, validationWork } from '../../../validation.ts'
import { networkPolicyStrategy } from './strategy.ts'

const context: StrategyContext = {
  clock: fakeClock(0),
  random: seededRandom(1),
  profile: stockProfile,
  features: createFeatures(),
}

function policyExcept(except: string[]): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'a', namespace: 'default', resourceVersion: '1' },
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except } }] }] },
  }
}

describe('validation of network policies', () => {
  it('can be interrupted within long lists of ranges', () => {
    const policy = policyExcept(Array.from({ length: 1600 }, (_, i) => `10.0.${i >> 8}.${i & 255}/32`))
    const steps = [...validationWork(networkPolicyStrategy.validate?.(policy, context))]
    expect(steps.length).toBeGreaterThanOrEqual(100)
  })

  it('accepts malformed ranges of the stored policy in updates, and no others', () => {
    const old = policyExcept(['bad'])
    const fields = (policy: NetworkPolicy) =>
      runValidation(networkPolicyStrategy.validateUpdate?.(policy, old, context)).map(({ field }) => field)
    expect(fields(policyExcept(['bad']))).toEqual([])
    expect(new Set(fields(policyExcept(['bad', 'worse'])))).toEqual(new Set(['spec.ingress[0].from[0].ipBlock.except[1]']))
  })
})
