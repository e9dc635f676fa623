import type { ApiObject } from '@krmkit/meta'
import { formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { preparationWork, runPreparation } from '../../preparation.ts'
import { runValidation, validationWork } from '../../validation.ts'
import { strategies } from '../index.ts'
import { testContext } from '../testing/context.ts'

const many = 4000
const times = <T>(make: (i: number) => T): T[] => Array.from({ length: many }, (_, i) => make(i))
const wide = Object.fromEntries(times((i) => [`k${i}`, 'v']))
const wideAmounts = Object.fromEntries(times((i) => [`example.com/k${i}`, '1']))
const container = { name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }
const podSpec = (rest: object) => ({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', containers: [container], ...rest })
const template = (spec: object) => ({ metadata: { labels: { a: 'b' } }, spec: podSpec(spec) })

const large: Record<string, [key: string, members: object]> = {
  'labels of a service account': ['/ServiceAccount', { metadata: { labels: wide } }],
  'annotations of a node': ['/Node', { metadata: { annotations: wide } }],
  'capacity of a node': ['/Node', { status: { capacity: wideAmounts } }],
  'data of a config map': ['/ConfigMap', { data: wide }],
  'binary data of a config map': ['/ConfigMap', { binaryData: wide }],
  'data of a secret': ['/Secret', { type: 'Opaque', data: wide }],
  'containers of a pod': ['/Pod', { spec: podSpec({ containers: times((i) => ({ ...container, name: `c${i}` })) }) }],
  'environment of a pod': ['/Pod', { spec: podSpec({ containers: [{ ...container, env: times((i) => ({ name: `E${i}` })) }] }) }],
  'tolerations of a pod': ['/Pod', { spec: podSpec({ tolerations: times((i) => ({ key: `k${i}`, operator: 'Exists' })) }) }],
  'node selector of a deployment': [
    'apps/Deployment',
    {
      spec: { selector: { matchLabels: { a: 'b' } }, strategy: { type: 'Recreate' }, template: template({ nodeSelector: wide }) },
    },
  ],
}

describe('validation of large objects', () => {
  for (const [title, [key, members]] of Object.entries(large)) {
    it(`has pauses: ${title}`, () => {
      const { metadata, ...rest } = members as { metadata?: object }
      const object = { metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', ...metadata }, ...rest }
      if (key === '/Node') delete (object.metadata as { namespace?: string }).namespace
      const strategy = strategies[key]
      for (const validation of [
        strategy?.validate?.(object as ApiObject, testContext()),
        strategy?.validateUpdate?.(object as ApiObject, object as ApiObject, testContext()),
      ]) {
        if (validation === undefined || Array.isArray(validation)) throw new Error('no generator')
        let yields = 0
        let next = validation.next()
        for (; next.done !== true; next = validation.next()) yields++
        expect(next.value.map(formatFieldError)).toEqual([])
        expect(yields).toBeGreaterThan(many / 100)
      }
    })
  }

  it.each([
    ['a selector of labels', 'apps/ReplicaSet', { selector: { matchLabels: wide }, template: template({}) }],
    [
      'a selector of values',
      'apps/ReplicaSet',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: times(String) }] }, template: template({}) },
    ],
    ['the selector of a network policy', 'networking.k8s.io/NetworkPolicy', { podSelector: { matchLabels: wide } }],
  ])('has pauses: %s', (_, key, spec) => {
    const object = { metadata: { name: 'a', namespace: 'n' }, spec } as unknown as ApiObject
    expect([...validationWork(strategies[key]?.validate?.(object, testContext()))].length).toBeGreaterThan(many / 100)
  })

  it('returns the same errors at once', () => {
    const object = { metadata: { name: 'a', namespace: 'n' }, data: { ...wide, '/': 'v' } } as unknown as ApiObject
    const errors = runValidation(strategies['/ConfigMap']?.validate?.(object, testContext()))
    expect(errors.map(({ field }) => field)).toEqual(['data[/]'])
  })
})

describe('defaults of large objects', () => {
  const tiny = Object.fromEntries(times((i) => [`example.com/k${i}`, '1500u']))
  const rounded = Object.fromEntries(times((i) => [`example.com/k${i}`, '2m']))
  it.each([
    ['/Node', { status: { capacity: tiny } }, { status: { capacity: rounded, allocatable: rounded } }],
    [
      '/ReplicationController',
      { spec: { template: { metadata: { labels: wide }, spec: { containers: [] } } } },
      { metadata: { labels: wide }, spec: { selector: wide } },
    ],
    ['/ResourceQuota', { spec: { hard: tiny } }, { spec: { hard: rounded } }],
    ['/PersistentVolume', { spec: { capacity: tiny } }, { spec: { capacity: rounded } }],
    ['/PersistentVolumeClaim', { spec: { resources: { requests: tiny } } }, { spec: { resources: { requests: rounded } } }],
    [
      '/LimitRange',
      { spec: { limits: [{ type: 'Container', max: tiny }] } },
      { spec: { limits: [{ type: 'Container', max: rounded, default: rounded, defaultRequest: rounded }] } },
    ],
  ])('have pauses, and equal those set at once: %s', (key, members, expected) => {
    const { defaults } = strategies[key] ?? {}
    const make = () => structuredClone({ metadata: { name: 'a' }, ...members }) as unknown as ApiObject
    const [sliced, whole] = [make(), make()]
    const { profile } = testContext()
    expect([...preparationWork(defaults?.(sliced, 'v1', profile))].length).toBeGreaterThan(many / 100)
    expect(sliced).toMatchObject(expected)
    runPreparation(defaults?.(whole, 'v1', profile))
    expect(JSON.stringify(sliced)).toBe(JSON.stringify(whole))
  })
})

describe('preparation of large objects', () => {
  const spec = { template: template({ nodeSelector: wide }), selector: { matchLabels: { a: 'b' } } }
  const old = { metadata: { name: 'a', namespace: 'n', labels: wide, generation: 3 }, spec, status: { capacity: wideAmounts } }
  const make = (changes: object = {}) => structuredClone({ ...old, ...changes }) as unknown as ApiObject
  const prepared = (key: string, subresource: string | undefined, object: ApiObject): { yields: number; object: ApiObject } => {
    const strategy = subresource === undefined ? strategies[key] : strategies[key]?.subresources?.[subresource]
    const steps = strategy?.prepareForUpdate?.(object, make(), testContext())
    return { yields: steps === undefined ? 0 : [...steps].length, object }
  }

  it.each([
    ['apps/Deployment', undefined],
    ['apps/Deployment', 'status'],
    ['apps/StatefulSet', undefined],
    ['batch/Job', undefined],
    ['batch/Job', 'status'],
    ['/Node', undefined],
  ])('has pauses: %s %s', (key, subresource) => {
    expect(prepared(key, subresource, make()).yields).toBeGreaterThan(many / 512)
  })

  it('raises the generation for one changed member', () => {
    const changed = make({ spec: { ...spec, template: template({ nodeSelector: { ...wide, k9: 'w' } }) } })
    expect(prepared('batch/Job', undefined, changed).object.metadata.generation).toBe(4)
    expect(prepared('batch/Job', undefined, make()).object.metadata.generation).toBe(3)
  })

  it('restores what a status may not change', () => {
    const { object } = prepared('batch/Job', 'status', make({ spec: { parallelism: 7 } }))
    expect(object['spec']).toEqual(spec)
  })
})

describe('namespaces with many labels', () => {
  const name = 'kubernetes.io/metadata.name'
  const prepare = (labels: Record<string, string>) => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', labels }, spec: {} } as ApiObject
    runPreparation(strategies['/Namespace']?.prepareForUpdate?.(namespace, structuredClone(namespace), testContext()))
    return namespace.metadata.labels
  }

  it('keep labels that have the name', () => {
    const labels = Object.freeze({ ...wide, [name]: 'a' })
    expect(prepare(labels)).toBe(labels)
  })

  it('add the name to their labels', () => {
    const labels = { ...wide }
    expect(prepare(labels)).toBe(labels)
    expect(labels).toEqual({ ...wide, [name]: 'a' })
    expect(prepare(Object.freeze({ ...wide, [name]: 'b' }))).toEqual({ ...wide, [name]: 'a' })
  })
})
