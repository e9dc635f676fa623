import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { testTypes } from '../../testdata/types.ts'
import { createTypeSource } from '../model/type-source.ts'
import { splitCamelCase } from './descriptions.ts'
import { v2Definition, v3Schema } from './documents.ts'

const types = testTypes()

/** The schema of one member, without its description. */
function member(schema: JsonObject, name: string): JsonObject {
  const { description: _, ...rest } = (schema.properties as JsonObject)[name] as JsonObject
  return rest
}

describe('schemas of types', () => {
  const container = v3Schema(types.struct('core/v1.Container'))
  const port = v3Schema(types.struct('core/v1.ContainerPort'))
  const probe = v3Schema(types.struct('core/v1.HTTPGetAction'))
  const pod = v3Schema(types.struct('core/v1.Pod'))

  it('list members and group version kinds', () => {
    expect(pod['x-kubernetes-group-version-kind']).toEqual([{ group: '', kind: 'Pod', version: 'v1' }])
    expect(Object.keys(pod.properties as JsonObject)).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status'])
    expect(pod.required).toBeUndefined()
    expect(container['x-kubernetes-group-version-kind']).toBeUndefined()
  })

  it('require members that are neither optional nor omitempty', () => {
    expect(container.required).toEqual(['name'])
    expect(port.required).toEqual(['containerPort'])
  })

  it('give scalars a format and their default', () => {
    expect(member(port, 'containerPort')).toEqual({ default: 0, format: 'int32', type: 'integer' })
    expect(member(port, 'hostPort')).toEqual({ format: 'int32', type: 'integer' })
    expect(member(container, 'name')).toEqual({ default: '', type: 'string' })
    expect(member(v3Schema(types.struct('core/v1.ConfigMap')), 'binaryData')).toEqual({
      additionalProperties: { format: 'byte', type: 'string' },
      type: 'object',
    })
  })

  it('sort enumerations and include defaults', () => {
    expect(member(port, 'protocol')).toEqual({ default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'], type: 'string' })
  })

  it('wrap references with siblings in version 3 only', () => {
    const ref = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
    expect(member(pod, 'metadata')).toEqual({ allOf: [{ $ref: `#/components/schemas/${ref}` }], default: {} })
    expect(member(v2Definition(types.struct('core/v1.Pod')), 'metadata')).toEqual({ $ref: `#/definitions/${ref}` })
  })

  it('include element defaults in version 3 only', () => {
    expect(member(container, 'command')).toEqual({
      items: { default: '', type: 'string' },
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
    })
    const v2 = v2Definition(types.struct('core/v1.Container'))
    expect(member(v2, 'command')).toEqual({ items: { type: 'string' }, type: 'array', 'x-kubernetes-list-type': 'atomic' })
  })

  it('describe how lists and structs are merged', () => {
    expect(member(container, 'ports')).toEqual({
      items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' }], default: {} },
      type: 'array',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    })
    expect(v3Schema(types.struct('core/v1.SecretKeySelector'))['x-kubernetes-map-type']).toBe('atomic')
  })

  it('refer to special types without a default', () => {
    expect(member(probe, 'port')).toEqual({
      allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString' }],
    })
    expect(member(v3Schema(types.struct('core/v1.ResourceRequirements')), 'limits')).toEqual({
      additionalProperties: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity' },
      type: 'object',
    })
  })

  it('describe unions', () => {
    expect(v3Schema(types.struct('core/v1.SeccompProfile'))['x-kubernetes-unions']).toEqual([
      { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
    ])
  })

  it('use a bare reference for members without documentation in version 3', () => {
    const fields = [
      { json: 'a', go: 'A', type: { ref: 'shop/v1.Part' }, pointer: true, optional: true, noDoc: true },
      { json: 'b', go: 'B', type: { ref: 'shop/v1.Part' }, pointer: true, optional: true },
    ]
    const version = { goPackage: 'example/shop/v1', protoPackage: 'shop.v1', openapiPrefix: 'shop.v1', kinds: {}, resources: {} }
    const source = createTypeSource({
      shop: JSON.stringify({
        group: 'shop',
        versions: { v1: { ...version, types: { Part: { fields: [] }, Whole: { fields } } } },
      }),
    })
    const { properties } = v3Schema(source.struct('shop/v1.Whole'))
    expect(properties).toEqual({
      a: { $ref: '#/components/schemas/shop.v1.Part' },
      b: { allOf: [{ $ref: '#/components/schemas/shop.v1.Part' }], description: 'B.' },
    })
  })

  it('treat __proto__ as an ordinary member', () => {
    const version = { goPackage: 'x/v1', protoPackage: 'x', openapiPrefix: 'x', kinds: {}, resources: {} }
    const fields = [{ json: '__proto__', go: 'P', type: { scalar: 'string' }, optional: true, omitempty: true }]
    const source = createTypeSource({
      x: JSON.stringify({ group: 'x', versions: { v1: { ...version, types: { T: { fields } } } } }),
    })
    const properties = v3Schema(source.struct('x/v1.T')).properties as JsonObject
    expect(Object.keys(properties)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype)
  })

  it('describe every member, at least by its name', () => {
    for (const field of Object.values(container.properties as JsonObject)) {
      expect((field as JsonObject).description).toMatch(/^[A-Zt].*\.$/)
    }
    expect(splitCamelCase('terminationGracePeriodSeconds')).toBe('termination grace period seconds')
    expect(splitCamelCase('hostIPs')).toBe('host IPs')
    expect(splitCamelCase('podCIDR')).toBe('pod CIDR')
    expect(splitCamelCase('x-kubernetes-int-or-string')).toBe('x-kubernetes-int-or-string')
  })
})
