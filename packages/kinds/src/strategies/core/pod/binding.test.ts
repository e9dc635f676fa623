import type { ObjectMeta } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Binding, ObjectReference, Pod, PodSpec, PodStatus } from '../../../types/core-v1.generated.ts'
import { bindPod, validateBinding } from './binding.ts'

const now = Date.UTC(2024, 0, 1)

function pod(spec: Partial<PodSpec> = {}, status: PodStatus = {}, metadata: ObjectMeta = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec: { containers: [], ...spec }, status }
}

function binding(target: ObjectReference, metadata: ObjectMeta = {}): Binding {
  return { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', ...metadata }, target }
}

describe('validateBinding', () => {
  it('accepts a node by name, with or without its kind', () => {
    expect(validateBinding(binding({ name: 'n' }))).toEqual([])
    expect(validateBinding(binding({ kind: 'Node', name: 'n' }))).toEqual([])
  })

  it('refuses another kind and an absent name', () => {
    expect(validateBinding(binding({ kind: 'Pod' }))).toEqual([
      {
        field: 'target.kind',
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "Pod": supported values: "Node", "<empty>"',
      },
      { field: 'target.name', reason: 'FieldValueRequired', message: 'Required value' },
    ])
  })
})

describe('bindPod', () => {
  it('sets node, annotations, condition and the expected resourceVersion', () => {
    const old = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
    const ready = { type: 'Ready', status: 'False' }
    const before = pod(
      {},
      { phase: 'Pending', conditions: [old, ready] },
      { annotations: { a: '1', b: '1' }, resourceVersion: '7' },
    )
    const frozen = structuredClone(before)
    const metadata = { annotations: { b: '2' }, labels: { ignored: 'yes' }, resourceVersion: '5' }
    expect(bindPod(before, binding({ name: 'n' }, metadata), now)).toEqual(
      pod(
        { nodeName: 'n' },
        {
          phase: 'Pending',
          conditions: [ready, { type: 'PodScheduled', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }],
        },
        { annotations: { a: '1', b: '2' }, resourceVersion: '5' },
      ),
    )
    expect(before).toEqual(frozen)
  })

  it('clears the nominated node where that is asked for', () => {
    const before = pod({}, { nominatedNodeName: 'm' })
    expect(bindPod(before, binding({ name: 'n' }), now).status?.nominatedNodeName).toBe('m')
    const { status } = bindPod(before, binding({ name: 'n' }), now, { clearNominatedNode: true })
    expect(status).not.toHaveProperty('nominatedNodeName')
  })

  it.each([
    [
      'is terminating',
      pod({}, {}, { deletionTimestamp: '2024-01-01T00:00:00Z' }),
      'pod p is being deleted, cannot be assigned to a host',
    ],
    ['has a node', pod({ nodeName: 'm' }), 'pod p is already assigned to node "m"'],
    ['has scheduling gates', pod({ schedulingGates: [{ name: 'g' }] }), 'pod p has non-empty .spec.schedulingGates'],
  ])('refuses a pod that %s', (_, subject, problem) => {
    const message = `Operation cannot be fulfilled on pods/binding "p": ${problem}`
    expect(() => bindPod(subject, binding({ name: 'n' }), now)).toThrow(expect.objectContaining({ reason: 'Conflict', message }))
  })
})
