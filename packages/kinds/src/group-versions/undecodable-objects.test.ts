import type { ApiObject, FieldError } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { KindsError } from '../kinds-error.ts'
import { ConfigMap, PersistentVolumeClaim, Pod, Secret } from './core-v1.generated.ts'
import type { KindHandle } from './kind-handle.ts'
import { StorageClass } from './storage-v1.generated.ts'

/** Objects that a server refuses with 400 before it validates them. */

const metadata = { name: 'a' }
const untyped = (value: unknown) => value as never
const faults = (errors: readonly FieldError[]) => errors.map(({ field, reason }) => `${field} ${reason}`)

const claim = (storage: string) =>
  PersistentVolumeClaim.create({ metadata, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } })

describe('validation of objects that fit their type', () => {
  it.each(['abc', '1Zi', ''])('reports the quantity %j with its field', (storage) => {
    expect(faults(PersistentVolumeClaim.validate(claim(storage)))).toEqual(['spec.resources.requests.storage FieldValueInvalid'])
    expect(faults(PersistentVolumeClaim.validateUpdate(claim(storage), claim('1Gi')))).toEqual([
      'spec.resources.requests.storage FieldValueInvalid',
    ])
  })

  it('accepts quantities with spaces, as a server does', () => expect(PersistentVolumeClaim.validate(claim('1Gi '))).toEqual([]))

  it('reports quantities of containers and text that is not base64', async () => {
    const limits = { cpu: 'abc' }
    const pod = Pod.create({ metadata, spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }] } })
    expect(faults(Pod.validate(pod))).toEqual(['spec.containers[0].resources.limits.cpu FieldValueInvalid'])
    const [error] = Secret.validate(Secret.create({ metadata, data: { a: '!!!' } }))
    expect(error).toEqual({
      field: 'data.a',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: illegal base64 data at input byte 0',
    })
    await expect(Pod.ready(pod)).resolves.toBeUndefined()
  })
})

describe('validation of objects of another shape', () => {
  it.each<[KindHandle<never>, object, string]>([
    [ConfigMap as never, { data: { a: 1 } }, 'data.a FieldValueTypeInvalid'],
    [ConfigMap as never, { data: 'x' }, 'data FieldValueTypeInvalid'],
    [ConfigMap as never, { metadata: 'x' }, 'metadata FieldValueTypeInvalid'],
    [ConfigMap as never, { daat: {} }, 'daat FieldValueForbidden'],
    [ConfigMap as never, { kind: 'Secret' }, 'kind FieldValueInvalid'],
    [ConfigMap as never, { apiVersion: 'v2' }, 'apiVersion FieldValueInvalid'],
    [Pod as never, { spec: 'x' }, 'spec FieldValueTypeInvalid'],
    [StorageClass as never, { provisioner: 5 }, 'provisioner FieldValueTypeInvalid'],
  ])('reports the member %#', (handle, members, expected) => {
    expect(faults(handle.validate(untyped({ metadata, ...members })))).toEqual([expected])
  })

  it('takes members that are undefined, and a missing kind, as absent', () =>
    expect(ConfigMap.validate(untyped({ metadata, data: undefined, kind: undefined }))).toEqual([]))
})

it.each([undefined, null, 'x', [], 5])('%j is not an object: KindsError', (value) => {
  const object = untyped(value)
  const calls: readonly ((handle: KindHandle<ApiObject>) => unknown)[] = [
    (handle) => handle.create(object),
    (handle) => handle.default(object),
    (handle) => handle.validate(object),
    (handle) => handle.encode(object),
  ]
  for (const call of calls) expect(() => call(ConfigMap as never)).toThrow(KindsError)
  if (value !== undefined) expect(() => ConfigMap.validateUpdate(ConfigMap.create({ metadata }), object)).toThrow(KindsError)
})

it('defaults of an object that does not decode are a KindsError', () =>
  expect(() => Pod.default(untyped({ metadata, spec: 'x' }))).toThrow('cannot unmarshal string into Go struct field Pod.spec'))
