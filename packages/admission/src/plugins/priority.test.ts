import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from '../chain.ts'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import { attributesOf, contextOf } from '../testing/request.ts'
import { priority } from './priority.ts'

const plugin = priority()
const pods = attributesOf('pods', { namespace: 'ns' })
const classes = {
  'priorityclasses//high': { value: 1000, preemptionPolicy: 'Never' },
  'priorityclasses//usual': { value: 10, globalDefault: true },
  'priorityclasses//humble': { value: 5, globalDefault: true },
}

async function admitted(spec: object, context: AdmissionContext, attributes: AdmissionAttributes = pods) {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: Object.freeze(spec) }
  expect(plugin.handles(attributes)).toBe(true)
  return (await createAdmissionChain([plugin]).admit(pod, attributes, context)).spec
}

describe('Priority', () => {
  it('resolves a class to its value and preemption policy [P288]', async () => {
    expect(await admitted({ priorityClassName: 'high' }, contextOf(classes))).toEqual({
      priorityClassName: 'high',
      priority: 1000,
      preemptionPolicy: 'Never',
    })
  })

  it('refuses an unknown class [P288]', async () => {
    for (const name of ['none', '__proto__', 'constructor']) {
      await expect(admitted({ priorityClassName: name }, contextOf(classes))).rejects.toMatchObject({
        code: 403,
        message: `pods "a" is forbidden: no PriorityClass with name ${name} was found`,
      })
    }
  })

  it('uses the lowest default class for pods without a class [P288]', async () => {
    expect(await admitted({}, contextOf(classes))).toEqual({
      priorityClassName: 'humble',
      priority: 5,
      preemptionPolicy: 'PreemptLowerPriority',
    })
    expect(await admitted({}, contextOf())).toEqual({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' })
  })

  it.each([
    ['system-cluster-critical', 2_000_000_000],
    ['system-node-critical', 2_000_001_000],
  ])('knows the built-in class %s [P288]', async (priorityClassName, number) => {
    expect(await admitted({ priorityClassName }, contextOf())).toMatchObject({ priority: number })
  })

  it('refuses a priority that differs from the class [P288]', async () => {
    await expect(admitted({ priorityClassName: 'high', priority: 7 }, contextOf(classes))).rejects.toThrow(
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 1000',
    )
    await expect(
      admitted({ priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' }, contextOf(classes)),
    ).rejects.toThrow('the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided')
    expect(await admitted({ priorityClassName: 'high', priority: 1000 }, contextOf(classes))).toMatchObject({ priority: 1000 })
  })

  it('keeps the priority on updates that omit it [P288]', async () => {
    const oldObject = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { priority: 7, preemptionPolicy: 'Never' } }
    const update = { ...pods, operation: 'UPDATE' as const, oldObject }
    expect(await admitted({}, contextOf(), update)).toEqual({ priority: 7, preemptionPolicy: 'Never' })
    expect(await admitted({ priority: 8 }, contextOf(), update)).toEqual({ priority: 8, preemptionPolicy: 'Never' })
  })

  it('refuses a second default class', async () => {
    const resource = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' }
    const attributes = attributesOf('priorityclasses', { resource })
    const validate = async (name: string, globalDefault: boolean) =>
      plugin.validate?.(
        { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, globalDefault } as ApiObject,
        attributes,
        contextOf({ 'priorityclasses//usual': { globalDefault: true } }),
      )
    await validate('usual', true)
    await validate('other', false)
    await expect(validate('other', true)).rejects.toThrow(
      'PriorityClass usual is already marked as default. Only one default can exist',
    )
  })

  it('does not handle subresources, deletions and other kinds', () => {
    expect(plugin.handles({ ...pods, subresource: 'status' })).toBe(false)
    expect(plugin.handles({ ...pods, operation: 'DELETE' })).toBe(false)
    expect(plugin.handles(attributesOf('nodes'))).toBe(false)
  })
})
