import { expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { testContext } from '../../testing/context.ts'
import { podStrategy } from './strategy.ts'

it.each([
  [undefined, 'BestEffort'],
  ['', 'BestEffort'],
  ['Burstable', 'Burstable'],
])('a new pod that states the class %s gets %s', (qosClass, expected) => {
  const status = qosClass === undefined ? {} : { status: { qosClass, phase: 'Running' } }
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] }, ...status }
  runPreparation(podStrategy.prepareForCreate?.(pod, testContext()))
  expect(pod.status).toEqual({ phase: 'Pending', qosClass: expected })
})

it.each([
  ['spec.hostNetwork', 'false'],
  ['status.podIP', '10.1.2.3'],
  ['status.podIPs', ''],
])('field selectors see the value of %s as %j', (name, expected) => {
  const status = { phase: 'Running', podIPs: [{ ip: '10.1.2.3' }, { ip: 'fd00::1' }] }
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] }, status }
  expect(podStrategy.selectableFields?.[name]?.(pod)).toBe(expected)
})
