import type { ApiObject, Typed } from '@krmkit/meta'
import { createZodSchema } from '@krmkit/schema/zod'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { KindsError } from '../kinds-error.ts'
import { ValidatingAdmissionPolicy } from './admissionregistration-v1.generated.ts'
import { HorizontalPodAutoscaler } from './autoscaling-v1.generated.ts'
import { Binding, ConfigMap, PersistentVolumeClaim, Pod, Secret } from './core-v1.generated.ts'
import { Event } from './events-v1.generated.ts'
import { decodeKind, encodeKind } from './protobuf.ts'
import { CSIDriver, StorageClass } from './storage-v1.generated.ts'

describe('kinds as values', () => {
  it('have the resource and scope of the catalog', () => {
    const catalog = createCatalog()
    for (const handle of [ConfigMap, Pod, HorizontalPodAutoscaler, Event, StorageClass]) {
      const { group, version, resource } = handle
      const definition = catalog.resource({ group, version, resource })
      expect(definition?.kind.kind).toBe(handle.kind)
      expect(definition?.resource.namespaced).toBe(handle.namespaced)
      expect(definition?.kind.type().name).toBe(handle.type().name)
    }
    expect(Binding.resource).toBe('bindings')
    expect(ConfigMap.apiVersion).toBe('v1')
  })

  it('infer the type of their objects', () => {
    const read = <T extends ApiObject>(_: Typed<T>): T => ConfigMap.create({ metadata: {} }) as unknown as T
    expectTypeOf(read(ConfigMap)).toEqualTypeOf<ConfigMap>()
    expectTypeOf(ConfigMap.decode).returns.toEqualTypeOf<ConfigMap>()
    expectTypeOf(Pod.create({ metadata: { name: 'a' } }).kind).toEqualTypeOf<'Pod'>()
  })

  it('create, encode and decode objects', () => {
    const object = ConfigMap.create({ metadata: { name: 'a', labels: { z: '1', b: '2' } }, data: { y: '1', x: '2' } })
    const text = new TextDecoder().decode(ConfigMap.encode(object))
    expect(text).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null,"labels":{"b":"2","z":"1"}},"data":{"x":"2","y":"1"}}',
    )
    expect(ConfigMap.decode(text)).toEqual(ConfigMap.decode(object))
    expect(ConfigMap.decode(new TextEncoder().encode(text)).data).toEqual({ x: '2', y: '1' })
  })

  it('reject objects of another kind [P200]', () => {
    const refused = [
      '{',
      '[]',
      '{"apiVersion":"v1","kind":"Secret"}',
      '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":1}}',
      '{"apiVersion":"v1","kind":"ConfigMap","date":{}}',
      '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","a":"2"}}',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"__proto__":{}}}',
    ]
    for (const text of refused) expect(() => ConfigMap.decode(text), text).toThrow(KindsError)
    expect(ConfigMap.decode('{"apiVersion":"v1","kind":"ConfigMap","date":{}}', { strict: false })).not.toHaveProperty('date')
  })

  it('apply the defaults of the facts without changing the argument', () => {
    const service = Pod.create({ metadata: { name: 'a' }, spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] } })
    const before = JSON.stringify(service)
    expect(Pod.default(service).spec?.containers[0]?.ports?.[0]?.protocol).toBe('TCP')
    expect(JSON.stringify(service)).toBe(before)
  })

  it('validate names, also for kinds without a strategy', () => {
    expect(ConfigMap.validate(ConfigMap.create({ metadata: { name: 'a' } }))).toEqual([])
    expect(ConfigMap.validate(ConfigMap.create({ metadata: { generateName: 'a-' } }))).toEqual([])
    expect(ConfigMap.validate(ConfigMap.create({ metadata: { name: 'A' } })).map(({ field }) => field)).toEqual(['metadata.name'])
  })

  it('have types that zod schemas are made of', () => {
    const schema = createZodSchema<ConfigMap>(ConfigMap.type())
    expectTypeOf(schema.parse).returns.toEqualTypeOf<ConfigMap>()
    const map = ConfigMap.create({ metadata: { name: 'a' }, data: { k: 'v' } })
    expect(schema.parse(map)).toEqual(map)
    expect(schema.safeParse({ ...map, data: { k: 1 } }).error?.issues[0]?.path).toEqual(['data', 'k'])
  })

  it('encode and decode protobuf [P34 P190]', () => {
    const secret = Secret.create({ metadata: { name: 's' }, data: { a: 'YQ==' }, type: 'Opaque' })
    const bytes = encodeKind(Secret, secret)
    expect([...bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0])
    expect(decodeKind(Secret, bytes)).toEqual(Secret.decode(secret))
    expect(() => decodeKind(ConfigMap, bytes)).toThrow('expected v1 ConfigMap, found v1 Secret')
    expect(() => decodeKind(Secret, bytes.subarray(0, bytes.length - 12))).toThrow(KindsError)
    expect(() => decodeKind(Secret, Secret.encode(secret))).toThrow(KindsError)
    expect(() => Secret.decode(bytes)).toThrow(KindsError)
  })

  it('apply the rules of their kinds', async () => {
    const fields = (errors: readonly { field: string }[]) => errors.map(({ field }) => field)
    const pod = Pod.create({ metadata: { name: 'a' }, spec: { containers: [] } })
    expect(fields(Pod.validate(pod))).toEqual(['spec.containers'])
    const claim = PersistentVolumeClaim.create({ metadata: { name: 'c' }, spec: {} })
    expect(fields(PersistentVolumeClaim.validate(claim))).toEqual(['spec.accessModes', 'spec.resources[storage]'])
    const driver = CSIDriver.create({ metadata: { name: 'd' } } as never)
    expect(fields(CSIDriver.validate(driver))).toEqual(['spec'])
    const stored = CSIDriver.default(driver)
    stored.metadata.resourceVersion = '1'
    const named = { ...driver, metadata: stored.metadata }
    expect(fields(CSIDriver.validateUpdate(named, stored))).toEqual(['spec'])
    expect(CSIDriver.validateUpdate(named, named)).toEqual([])
    const older = HorizontalPodAutoscaler.create({
      metadata: { name: 'h' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 3, maxReplicas: 2 },
    })
    expect(fields(HorizontalPodAutoscaler.validate(older))).toEqual(['spec.maxReplicas'])
    const old = { ...ConfigMap.create({ metadata: { name: 'a', resourceVersion: '1' }, data: { k: 'v' } }), immutable: true }
    expect(ConfigMap.validateUpdate(old, old)).toEqual([])
    expect(fields(ConfigMap.validateUpdate({ ...old, data: {} }, old))).toEqual(['data'])
    await expect(Pod.ready(pod)).resolves.toBeUndefined()
  })

  it('load the expression engine before validation', async () => {
    const policy = ValidatingAdmissionPolicy.create({
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'object.spec.' }],
      },
    })
    await ValidatingAdmissionPolicy.ready(policy)
    expect(ValidatingAdmissionPolicy.validate(policy)[0]?.field).toBe('spec.validations[0].expression')
  })
})
