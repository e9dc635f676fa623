import { setMember } from '@krmkit/meta'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryObject } from '../../testdata/arbitrary.ts'
import { testTypes } from '../../testdata/types.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { decode } from './decode.direct.ts'
import { applyDefaults } from './defaults.direct.ts'
import { hasDefaults } from './defaults.ts'
import { normalize } from './normalize.direct.ts'

const types = testTypes()
const configMap = types.struct('core/v1.ConfigMap')
const pod = types.struct('core/v1.Pod')
const canonical = (type: typeof pod, value: unknown) => decode(type, value).object

/** Deep-freezes a value, so that a modification throws. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member)
    Object.freeze(value)
  }
  return value
}

/** A copy with the members of every object reversed. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value).reverse()) setMember(copy, key, reversed(member))
  return copy
}

describe('normalize', () => {
  it('returns a canonical object unchanged', () => {
    const object = frozen(
      canonical(pod, {
        metadata: { name: 'a', labels: { b: '', a: '', '\u{1f600}': '', '\ufffd': '' } },
        spec: { containers: [{ name: 'c' }] },
      }),
    )
    expect(normalize(pod, object)).toBe(object)
    expect(normalize(configMap, frozen({ metadata: { creationTimestamp: null } }))).toEqual({
      metadata: { creationTimestamp: null },
    })
  })

  it('repairs changed parts and shares the rest', () => {
    const object = canonical(pod, {
      metadata: { name: 'a', labels: { a: '1' } },
      spec: { containers: [{ name: 'c' }, { name: 'd' }], nodeSelector: { x: '' } },
    })
    const { metadata, spec, ...rest } = object as { metadata: Record<string, unknown>; spec: Record<string, unknown> }
    const changed = frozen({
      ...rest,
      spec: {
        ...spec,
        containers: [...(spec.containers as object[]), { image: 'i', name: 'e', ports: [], command: undefined }],
        hostname: '',
      },
      metadata: {
        ...metadata,
        labels: { b: '2', a: '1' },
        namespace: 'n',
        deletionTimestamp: null,
        extra: 1,
        creationTimestamp: undefined,
      },
    })
    const result = normalize(pod, changed) as unknown as typeof changed
    expect(stringifyJson(result)).toBe(
      '{"metadata":{"name":"a","namespace":"n","creationTimestamp":null,"labels":{"a":"1","b":"2"}},"spec":{"containers":[{"name":"c","resources":{}},' +
        '{"name":"d","resources":{}},{"name":"e","image":"i","resources":{}}],"nodeSelector":{"x":""}},"status":{}}',
    )
    expect(result.spec.containers[0]).toBe(changed.spec.containers[0])
    expect((result.spec as { nodeSelector?: object }).nodeSelector).toBe(spec.nodeSelector)
  })

  it('agrees with decoding', () => {
    for (const name of [
      'core/v1.Pod',
      'core/v1.Service',
      'apps/v1.Deployment',
      'meta/v1.Status',
      'authentication/v1.TokenReview',
    ]) {
      const type = types.struct(name)
      fc.assert(
        fc.property(arbitraryObject(type), (value) => {
          const object = canonical(type, value)
          expect(normalize(type, frozen(object))).toBe(object)
          expect(stringifyJson(normalize(type, frozen(reversed(object) as object)))).toBe(stringifyJson(object))
          expect(stringifyJson(canonical(type, object))).toBe(stringifyJson(object))
        }),
        { numRuns: 60 },
      )
    }
  })
})

describe('applyDefaults', () => {
  it('fills in unset members of structs, list elements and pointers in field order', () => {
    const object = canonical(pod, {
      spec: {
        containers: [
          {
            name: 'c',
            ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
            livenessProbe: { grpc: { port: 1 } },
          },
          { name: 'd' },
        ],
        volumes: [{ name: 'v', azureDisk: { diskName: 'd', diskURI: 'u', readOnly: true } }],
      },
    })
    const result = applyDefaults(pod, frozen(object)) as typeof object
    const spec = result.spec as { containers: Record<string, unknown>[]; volumes: Record<string, unknown>[] }
    expect(stringifyJson(spec.containers[0]?.ports)).toBe(
      '[{"containerPort":80,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}]',
    )
    expect(stringifyJson(spec.containers[0]?.livenessProbe)).toBe('{"grpc":{"port":1,"service":""}}')
    expect(stringifyJson(spec.volumes[0]?.azureDisk)).toBe(
      '{"diskName":"d","diskURI":"u","cachingMode":"ReadWrite","fsType":"ext4","readOnly":true,"kind":"Shared"}',
    )
    expect(spec.containers[1]).toBe((object.spec as typeof spec).containers[1])
    expect(normalize(pod, result)).toBe(result)
    expect(applyDefaults(pod, frozen(result))).toBe(result)
  })

  it('returns the same object when no default applies', () => {
    expect(hasDefaults(configMap)).toBe(false)
    expect(hasDefaults(pod)).toBe(true)
    const object = frozen(canonical(pod, {}))
    expect(applyDefaults(pod, object)).toBe(object)
    const empty = canonical(types.struct('core/v1.ReplicationController'), { spec: {} })
    expect(applyDefaults(types.struct('core/v1.ReplicationController'), empty).spec).toEqual({ replicas: 1 })
  })
})
