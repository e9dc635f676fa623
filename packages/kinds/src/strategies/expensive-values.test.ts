import type { Work } from '@krmkit/base/work'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { validatingAdmissionPolicyStrategy } from './admissionregistration/validating-admission-policy/strategy.ts'
import { cronJobStrategy } from './batch/cron-job/strategy.ts'
import { clusterTrustBundleStrategy } from './certificates/cluster-trust-bundle/strategy.ts'
import { resourceClaimStrategy } from './resource/resource-claim/strategy.ts'
import { testContext } from './testing/context.ts'

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)
const metadata = { name: 'a', namespace: 'default' }

const objects = [
  [
    'expressions of a policy',
    validatingAdmissionPolicyStrategy,
    { spec: { validations: times(50, { expression: 'true' }) } },
    50,
  ],
  [
    'selectors of a claim',
    resourceClaimStrategy,
    {
      spec: {
        devices: { requests: [{ name: 'r', deviceClassName: 'c', selectors: times(32, { cel: { expression: 'true' } }) }] },
      },
    },
    32,
  ],
  ['ranges of a schedule', cronJobStrategy, { spec: { schedule: `${'0-59,'.repeat(100_000)}0 * * * *`, jobTemplate: {} } }, 100],
  ['lines of a trust bundle', clusterTrustBundleStrategy, { spec: { trustBundle: '\n'.repeat(100_000) } }, 100],
  [
    'blocks of a trust bundle',
    clusterTrustBundleStrategy,
    { spec: { trustBundle: '-----BEGIN A-----\nYQ==\n-----END A-----\n'.repeat(3200) } },
    200,
  ],
] as const

describe('objects with few but expensive values', () => {
  it.each(objects)('are validated with pauses: %s', async (_name, strategy, members, least) => {
    const object = { metadata, ...members } as unknown as ApiObject
    await strategy.ready?.(object, undefined)
    const steps = strategy.validate?.(object, testContext())
    if (steps === undefined || Array.isArray(steps)) throw new Error('no steps')
    const yields = [...(steps as Work<unknown>)].filter((value) => value === true)
    expect(yields.length).toBeGreaterThanOrEqual(least)
  })
})
