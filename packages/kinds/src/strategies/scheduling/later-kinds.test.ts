import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Strategy } from '../../interfaces.ts'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { evictionRequestPrinter } from '../lifecycle/printers.ts'
import { evictionStrategy } from '../lifecycle/strategies.ts'
import { deviceTaintRuleStrategy } from '../resource/device-taint-rule/strategy.ts'
import { resourcePoolStatusRequestPrinter } from '../resource/resource-pool-status-request/printer.ts'
import { resourcePoolStatusRequestStrategy } from '../resource/resource-pool-status-request/strategy.ts'
import { testContext } from '../testing/context.ts'
import { compositePodGroupPrinter, podGroupPrinter } from './pod-group/printer.ts'
import { podGroupStrategy } from './pod-group/strategy.ts'
import { workloadStrategy } from './workload/strategy.ts'

/** Kinds of 1.35 to 1.37. */

type Gates = Readonly<Record<string, boolean>>

const at = (gates: Gates = {}, release = '1.37') => testContext({ features: createFeatures(release, gates) })
const object = (spec: object, status?: object, namespace: string | undefined = 'n') =>
  ({
    apiVersion: 'g/v1',
    kind: 'K',
    metadata: { name: 'x', uid: 'u', resourceVersion: '1', ...(namespace === '' ? {} : { namespace }) },
    spec,
    ...(status === undefined ? {} : { status }),
  }) as ApiObject
const texts = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const created = (strategy: Strategy, made: ApiObject) => texts(runValidation(strategy.validate?.(made, at())))
const statusOf = (strategy: Strategy, now: ApiObject, old: ApiObject) =>
  texts(runValidation(strategy.subresources?.['status']?.validateUpdate(now, old, at())))
const prepared = (strategy: Strategy, made: ApiObject, gates: Gates = {}) => {
  runPreparation(strategy.prepareForCreate?.(made, at(gates)))
  return made
}
const condition = (type: string, members: object = {}) => ({
  type,
  status: 'True',
  reason: 'R',
  message: '',
  lastTransitionTime: '2020-01-01T00:00:00Z',
  ...members,
})

describe('pod groups', () => {
  it('have a status of their own, and members behind gates', () => {
    const spec = { preemptionPolicy: 'Never', schedulingConstraints: {}, resourceClaims: [{ name: 'c' }] }
    const made = prepared(podGroupStrategy, object({ ...spec }, { conditions: [] }))
    expect([made['spec'], made['status']]).toEqual([{}, {}])
    const gates = { PodGroupPreemptionPolicy: true, TopologyAwareWorkloadScheduling: true, DRAWorkloadResourceClaims: true }
    expect(prepared(podGroupStrategy, object({ ...spec }), gates)['spec']).toEqual(spec)
  })

  it('default the preemption policy behind its gate', () => {
    const defaulted = (on: boolean) => {
      const made = object({})
      runPreparation(podGroupStrategy.defaults?.(made, 'v1beta1', testContext().profile, at({ PodGroupPreemptionPolicy: on })))
      return made['spec']
    }
    expect([defaulted(true), defaulted(false)]).toEqual([{ preemptionPolicy: 'PreemptLowerPriority' }, {}])
  })

  it('need a workload for a parent, and claims for their statuses', () => {
    expect(created(podGroupStrategy, object({ parentCompositePodGroupName: 'p' }))).toEqual([
      'spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set',
    ])
    expect(created(podGroupStrategy, object({ parentCompositePodGroupName: 'p', workloadRef: {} }))).toEqual([])
    const status = { conditions: [condition('A', { reason: '' })], resourceClaimStatuses: [{ name: 'c' }] }
    expect(statusOf(podGroupStrategy, object({}, status), object({}))).toEqual([
      expect.stringMatching(/^status.conditions\[0\].reason: Required value/),
      'status.resourceClaimStatuses[0].name: Invalid value: "c": must match the name of an entry in `spec.resourceClaims`',
    ])
  })

  it('are shown with their policy and state', () => {
    const cells = (spec: object, ...conditions: object[]) =>
      podGroupPrinter.cells(object(spec, { conditions }), { now: 0 }).slice(0, 4)
    expect(cells({})).toEqual(['x', 'Basic', '<none>', 'Pending'])
    const gang = { schedulingPolicy: { gang: {} }, workloadRef: { workloadName: 'w' } }
    expect(cells(gang, condition('PodGroupInitiallyScheduled'))).toEqual(['x', 'Gang', 'w', 'Scheduled'])
    expect(cells(gang, condition('PodGroupInitiallyScheduled', { status: 'False' }))[3]).toBe('Unschedulable')
    expect(cells(gang, condition('DisruptionTarget', { reason: 'Preempted' }))[3]).toBe('Preempted')
    expect(compositePodGroupPrinter.cells(object(gang), { now: 0 })).toEqual(['x', 'Gang', 'w', '<unknown>'])
  })
})

describe('workloads', () => {
  const group = (name: string, members: object = {}) => ({ name, ...members })
  const nested = (depth: number): object =>
    depth === 0
      ? group('leaf', { podGroupTemplates: [group('g')] })
      : group(`n${depth}`, { compositePodGroupTemplates: [nested(depth - 1)] })

  it('have templates with unique names, one priority, children and a bounded depth', () => {
    expect(created(workloadStrategy, object({ podGroupTemplates: [group('a'), group('b')] }))).toEqual([])
    const composite = (...compositePodGroupTemplates: object[]) =>
      object({ podGroupTemplates: [group('a')], compositePodGroupTemplates })
    const path = 'spec.compositePodGroupTemplates[0]'
    expect(created(workloadStrategy, composite(group('a', { podGroupTemplates: [group('a')] })))).toEqual([
      `${path}.name: Duplicate value: "a"`,
      `${path}.podGroupTemplates[0].name: Duplicate value: "a"`,
    ])
    expect(created(workloadStrategy, composite(group('b')))).toEqual([
      `${path}: Invalid value: "b": must have at least one child PodGroupTemplate or CompositePodGroupTemplate`,
    ])
    expect(created(workloadStrategy, composite(group('b', { podGroupTemplates: [group('c', { priority: 1 })] })))).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*all priority and priorityClassName values must be identical/),
    ])
    expect(created(workloadStrategy, object({ podGroupTemplates: [group('a'), group('b', { priority: 1 })] }))).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*detected multiple priority configurations$/),
    ])
    expect(created(workloadStrategy, composite(nested(2)))).toEqual([])
    expect(created(workloadStrategy, composite(nested(3)))).toEqual([
      expect.stringMatching(new RegExp(`^${path.replaceAll(/[[\]]/g, '\\$&')}: .*maximum template hierarchy depth is 4$`)),
    ])
  })

  it('lose members behind gates', () => {
    const spec = () => ({
      podGroupTemplates: [group('a', { preemptionPolicy: 'Never' })],
      compositePodGroupTemplates: [group('b', { podGroupTemplates: [group('c', { resourceClaims: [{}] })] })],
    })
    expect(prepared(workloadStrategy, object(spec()))['spec']).toEqual({ podGroupTemplates: [group('a')] })
    expect(
      prepared(workloadStrategy, object(spec()), { CompositePodGroup: true, PodGroupPreemptionPolicy: true })['spec'],
    ).toEqual({
      ...spec(),
      compositePodGroupTemplates: [group('b', { podGroupTemplates: [group('c')] })],
    })
  })
})

it('requests for the status of pools are answered once', () => {
  const made = prepared(resourcePoolStatusRequestStrategy, object({ driver: 'd' }, {}, ''))
  expect(made).not.toHaveProperty('status')
  const answer = object({ driver: 'd' }, { poolCount: 2, pools: [{ totalDevices: 3 }], conditions: [condition('Complete')] }, '')
  expect(statusOf(resourcePoolStatusRequestStrategy, answer, object({ driver: 'd' }, undefined, ''))).toEqual([])
  const other = object({ driver: 'd' }, { poolCount: 3 }, '')
  expect(statusOf(resourcePoolStatusRequestStrategy, other, answer)).toEqual([
    expect.stringMatching(/^status: Invalid value: .*field is immutable$/),
  ])
  const now = Date.parse('2020-01-01T00:05:00Z')
  expect(resourcePoolStatusRequestPrinter.cells(answer, { now })).toEqual([
    'x',
    'd',
    '3',
    '0',
    '0',
    '0',
    '0',
    2,
    'Complete (1/2 pools)',
    '5m',
  ])
  expect(resourcePoolStatusRequestPrinter.cells(object({}), { now })).toEqual([
    'x',
    '',
    '-',
    '-',
    '-',
    '-',
    '-',
    0,
    'Pending',
    '<none>',
  ])
})

it('evictions have a generation, and do not revert', () => {
  expect(prepared(evictionStrategy, object({})).metadata.generation).toBe(1)
  const ended = object({}, { conditions: [condition('Failed')] })
  expect(statusOf(evictionStrategy, ended, ended)).toEqual([])
  expect(statusOf(evictionStrategy, object({}, {}), ended)).toEqual([
    expect.stringMatching(/^status.conditions: .*Failed condition status cannot be reverted$/),
  ])
  const spec = { target: { pod: { name: 'p' } }, requester: 'r', intent: 'Evict' }
  expect(evictionRequestPrinter.cells(object(spec, { observedGeneration: 1 }), { now: 0 })).toEqual([
    'x',
    'p',
    'Pod',
    'Progressing',
    'r',
    'Evict',
    '<unknown>',
  ])
})

it('device taint rules have a status since 1.35, and taints without effect', async () => {
  const rule = (status?: object, effect = 'None') => object({ taint: { key: 'k', effect } }, status, '')
  const started = (release: string) => {
    const made = rule()
    runPreparation(deviceTaintRuleStrategy.prepareForCreate?.(made, at({}, release)))
    return made['status']
  }
  expect([started('1.34'), started('1.35')]).toEqual([undefined, {}])
  const conditions = Array.from({ length: 9 }, (_, i) => condition(`C${i}`))
  expect(statusOf(deviceTaintRuleStrategy, rule({ conditions }), rule({}))).toEqual([
    'status.conditions: Too many: 9: must have at most 8 items',
  ])
  await deviceTaintRuleStrategy.ready?.(rule(), undefined)
  const found = (release: string) =>
    runValidation(deviceTaintRuleStrategy.validate?.(rule(), at({}, release))).map(({ field }) => field)
  expect([found('1.34'), found('1.35')]).toEqual([['spec.taint.effect'], []])
})
