import { runAtOnce, type Work } from '@krmkit/base/work'
import { type ApiObject, createFeatures, type DeepReadonly, type Features, type FieldError, field } from '@krmkit/meta'
import { formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { emulateRelease, typesAt } from '../releases/index.ts'
import { checks } from './checks.ts'
import { customRules } from './custom.ts'
import { formats } from './formats.ts'
import { rulesOfRelease } from './index.ts'
import { type Call, readRules } from './notation.ts'
import { ruleTexts } from './texts/index.generated.ts'

const gates = { DeclarativeValidationBeta: true }

interface Write {
  readonly object: object
  readonly old?: object
  readonly subresource?: string
  readonly errors?: readonly FieldError[]
  readonly features?: Features
}

function* asItIs(object: DeepReadonly<ApiObject>): Work<DeepReadonly<ApiObject>> {
  yield
  return object
}

/** The errors of a write of a kind: `core/v1.Pod`. */
async function errorsOf(name: string, write: Write): Promise<string[]> {
  const { object, old, subresource, errors = [], features = createFeatures('1.37', gates) } = write
  const [, folder = '', version = '', kind = ''] = /^(\w+)\/(\w+)\.(\w+)$/.exec(name)!
  const rules = rulesOfRelease(features)?.of({ folder, version, kind })
  if (rules === undefined) return errors.map(formatFieldError)
  await rules.load()
  const validated = { object: object as ApiObject, old: old as ApiObject | undefined, subresource, inVersion: asItIs }
  return runAtOnce(rules.complete(errors, validated)).map(formatFieldError)
}

describe('the rules of releases', () => {
  const role = { rules: [{ resources: ['pods'] }] }

  it('are those of 1.36 and later', async () => {
    expect(rulesOfRelease(createFeatures('1.35'))).toBeUndefined()
    const features = createFeatures('1.36', gates)
    expect(await errorsOf('rbac/v1.Role', { object: role, features })).toEqual([])
    expect(await errorsOf('rbac/v1.Role', { object: role })).toEqual(['rules[0].verbs: Required value'])
  })

  it('replace the hand-written error of approved and denied requests', async () => {
    const object = { status: { conditions: [{ type: 'Approved' }, { type: 'Denied' }] } }
    const errors = [field.invalid('status.conditions', 'Denied', 'Approved and Denied conditions are mutually exclusive')]
    expect(await errorsOf('certificates/v1.CertificateSigningRequest', { object, errors })).toEqual([
      expect.stringMatching(/^status\.conditions: .*must specify at most one of: /),
    ])
  })

  it('are those of three kinds in 1.36', async () => {
    const features = createFeatures('1.36', gates)
    expect(await errorsOf('scheduling/v1alpha2.Workload', { object: {}, features })).toEqual([
      'spec.podGroupTemplates: Required value',
    ])
    expect(await errorsOf('scheduling/v1alpha2.Workload', { object: {} })).toEqual([])
    const request = { spec: { driver: 'd.example.com', limit: 1001 } }
    expect(await errorsOf('resource/v1alpha3.ResourcePoolStatusRequest', { object: request, features })).toEqual([
      'spec.limit: Invalid value: 1001: must be less than or equal to 1000',
    ])
  })

  it('of the level beta depend on a gate', async () => {
    const features = createFeatures('1.37', { DeclarativeValidationBeta: false })
    expect(await errorsOf('rbac/v1.Role', { object: role, features })).toEqual([])
  })

  it('are absent for groups without rules', () => {
    expect(rulesOfRelease(createFeatures('1.37'))?.of({ folder: 'coordination', version: 'v1', kind: 'Lease' })).toBeUndefined()
  })

  it('apply to the requests that a kind states', async () => {
    const [old, object] = [{ spec: { attacher: 'a' } }, { spec: { attacher: 'b' } }]
    const immutable = ['spec: Invalid value: null: field is immutable']
    expect(await errorsOf('storage/v1.VolumeAttachment', { object, old })).toEqual(immutable)
    expect(await errorsOf('storage/v1.VolumeAttachment', { object, old, subresource: 'status' })).toEqual(immutable)
    expect(await errorsOf('storage/v1.VolumeAttachment', { object, old, subresource: 'other' })).toEqual([])
  })

  it('reach the types of other groups', async () => {
    const evictionResponders = [{ name: 'a.k8s.io/x', priority: 5 }]
    const object = { spec: { jobTemplate: { spec: { template: { spec: { evictionResponders } } } } } }
    expect(await errorsOf('batch/v1.CronJob', { object })).toEqual([
      'spec.schedule: Required value',
      'spec.jobTemplate.spec.template.spec.evictionResponders[0].name: Invalid value: "a.k8s.io/x": domain names *.k8s.io, *.kubernetes.io are reserved',
      'spec.jobTemplate.spec.template.spec.evictionResponders[0].priority: Invalid value: 5: priorities 0-999 are reserved for responders with *.k8s.io suffix',
    ])
  })

  it('let an autoscaler keep zero replicas', async () => {
    const object = { spec: { minReplicas: 0, maxReplicas: 2 } }
    const old = { spec: { minReplicas: 0, maxReplicas: 1 } }
    const few = 'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1'
    const features = createFeatures('1.37', { ...gates, HPAScaleToZero: false })
    expect(await errorsOf('autoscaling/v2.HorizontalPodAutoscaler', { object, features })).toEqual([few])
    expect(await errorsOf('autoscaling/v2.HorizontalPodAutoscaler', { object, old, features })).toEqual([])
    expect(await errorsOf('autoscaling/v2.HorizontalPodAutoscaler', { object })).toEqual([])
    const changed = { spec: { minReplicas: -1, maxReplicas: 1 } }
    expect(await errorsOf('autoscaling/v2.HorizontalPodAutoscaler', { object: changed, old, features })).toEqual([
      'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
    ])
  })

  it('follow the mode of a priority level', async () => {
    const name = 'flowcontrol/v1.PriorityLevelConfiguration'
    expect(await errorsOf(name, { object: { spec: { type: 'Limited' } } })).toEqual(['spec.limited: Required value'])
    const exempt = { spec: { type: 'Exempt', limited: { limitResponse: { type: 'Reject' } } } }
    expect(await errorsOf(name, { object: exempt })).toEqual(['spec.limited: Forbidden'])
  })

  it('refuse a request that is approved and denied', async () => {
    const conditions = [{ type: 'Approved' }, { type: 'Denied' }]
    const [text] = await errorsOf('certificates/v1.CertificateSigningRequest', {
      object: { status: { conditions } },
      old: {},
      subresource: 'approval',
    })
    expect(text).toBe(
      'status.conditions: Invalid value: "{conditions[{\\"type\\": \\"Approved\\"}], conditions[{\\"type\\": \\"Denied\\"}]}": must specify at most one of: `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`',
    )
  })
})

describe('definitions', () => {
  it('of emulated releases carry the rules of their version of a kind', async () => {
    const { of } = rulesOfRelease(createFeatures('1.37', gates))!
    const emulated = { ...emulateRelease(createFeatures('1.32')), markerRules: of }
    const catalog = createCatalog({ features: createFeatures('1.32'), types: typesAt('1.32'), emulated })
    const find = (group: string, version: string, resource: string) => catalog.resource({ group, version, resource })?.markerRules
    expect(find('coordination.k8s.io', 'v1', 'leases')).toBeUndefined()
    for (const version of ['v1', 'v2']) {
      const rules = find('autoscaling', version, 'horizontalpodautoscalers')!
      await rules.load()
      const write = { object: { spec: {} } as unknown as ApiObject, inVersion: asItIs }
      expect(runAtOnce(rules.complete([], write)).map(formatFieldError)).toEqual(['spec.maxReplicas: Required value'])
    }
  })

  it('of other releases carry none', () => {
    expect(emulateRelease(createFeatures('1.32')).markerRules).toBeUndefined()
    expect(createCatalog().definitions.every(({ markerRules }) => markerRules === undefined)).toBe(true)
  })
})

describe('hand-written errors', () => {
  const object = { spec: { minReplicas: 1, maxReplicas: 0 } }

  it('are left out where a rule reports them, and stand before those of rules', async () => {
    const errors = [
      field.required('spec.maxReplicas'),
      field.invalid('spec.maxReplicas', 0, 'must be greater than or equal to `minReplicas`'),
      field.required('spec.scaleTargetRef.kind'),
    ]
    expect(await errorsOf('autoscaling/v2.HorizontalPodAutoscaler', { object, errors })).toEqual([
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      'spec.scaleTargetRef.kind: Required value',
      'spec.maxReplicas: Required value',
    ])
  })

  it('are known by what they are about', async () => {
    const errors = [field.invalid('spec', '{}', 'field is immutable'), field.invalid('spec', '{}', 'must be something else')]
    const [old, next] = [{ spec: { attacher: 'a' } }, { spec: { attacher: 'b' } }]
    expect(await errorsOf('storage/v1.VolumeAttachment', { object: next, old, errors })).toEqual([
      'spec: Invalid value: "{}": must be something else',
      'spec: Invalid value: null: field is immutable',
    ])
  })

  it('name fields of the stored version', async () => {
    const errors = [field.required('spec.devices.requests[0].exactly.deviceClassName')]
    const claim = { spec: { devices: { requests: [{ name: 'a', allocationMode: 'All' }] } } }
    const texts = await errorsOf('resource/v1beta1.ResourceClaim', { object: claim, errors })
    expect(texts.filter((text) => text.includes('deviceClassName'))).toHaveLength(1)
  })
})

describe('the generated texts', () => {
  const innerCalls = (call: Call): Call[] => [
    call,
    ...(call.inner ?? []).flatMap(innerCalls),
    ...[...(call.modes?.values() ?? [])].flat().flatMap(innerCalls),
  ]

  it.each(Object.keys(ruleTexts))('name nothing that the engine does not know: %s', async (folder) => {
    const { rules: text } = await ruleTexts[folder]!()
    for (const minor of [36, 37]) {
      const rules = readRules(folder, text, minor)
      for (const [type, { groups, fields }] of rules) {
        for (const each of fields) {
          const { target = '', name } = each
          if (target.startsWith(`${folder}/`)) expect(rules.has(target), `${type}.${name}`).toBe(true)
          for (const call of each.groups.flat().flatMap(innerCalls)) expectKnown(call, `${type}.${name}`)
        }
        for (const call of groups.flat().flatMap(innerCalls)) expectKnown(call, type)
      }
    }
  })

  function expectKnown({ name, args }: Call, place: string): void {
    const known = [...Object.keys(checks), 'optional', 'on', 'off', 'each', 'key', 'item', 'sub', 'mode']
    expect(known, place).toContain(name)
    if (name === 'format') expect(Object.keys(formats), place).toContain(args[0])
    if (name === 'custom') expect(Object.keys(customRules)).toContain(place)
  }
})
