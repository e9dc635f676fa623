import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryObject } from '../../testdata/arbitrary.ts'
import { testTypes } from '../../testdata/types.ts'
import { decode } from '../decode/decode.direct.ts'
import { applyDefaults } from '../decode/defaults.direct.ts'
import type { StructType } from '../interfaces.ts'
import { decodeMessage } from '../protobuf/protobuf.direct.ts'
import { encodeMessage } from '../protobuf/protobuf.ts'
import { DecodeError } from '../schema-error.ts'
import { createCustomType } from '../structural/custom-type.ts'
import { DecodedSize } from './decoded-size.ts'
import { encodeJson, stringifyJson } from './encode-json.direct.ts'
import { jsonWeight } from './json-weight.direct.ts'
import { parseJson } from './parse-json.direct.ts'

const types = testTypes()
const pod = types.struct('core/v1.Pod')
const configMap = types.struct('core/v1.ConfigMap')
const names = ['core/v1.Pod', 'core/v1.Service', 'core/v1.Secret', 'apps/v1.Deployment', 'apps/v1.ControllerRevision']
names.push('apiextensions/v1.CustomResourceDefinition', 'meta/v1.DeleteOptions', 'authentication/v1.TokenReview')

const bytesOf = (object: object): number => encodeJson(object).byteLength

function failure(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof DecodeError) return error.code
    throw error
  }
}

function decodeWithin(type: StructType, text: string, maxBytes: number): object {
  const { value, duplicates } = parseJson(text, { literals: true })
  return decode(type, value, { duplicates, size: new DecodedSize(maxBytes) }).object
}

describe('size of decoded objects', () => {
  it.each(names)('accepts every %s whose JSON is within the limit', (name) => {
    const type = types.struct(name)
    fc.assert(
      fc.property(arbitraryObject(type), (value) => {
        const text = stringifyJson(value)
        const { object } = decode(type, parseJson(text).value)
        expect(decodeWithin(type, text, bytesOf(object))).toEqual(object)
        const message = encodeMessage(type, object)
        const decoded = decodeMessage(type, message)
        expect(decodeMessage(type, message, { size: new DecodedSize(bytesOf(decoded)) })).toEqual(decoded)
        const size = new DecodedSize(bytesOf(applyDefaults(type, object)))
        const counted = decode(type, parseJson(text).value, { size }).object
        expect(applyDefaults(type, counted, { size })).toEqual(applyDefaults(type, object))
      }),
      { numRuns: 60 },
    )
  })

  it('accepts the result of repeated members within the limit', () => {
    const value = fc.oneof(fc.string({ maxLength: 40 }), fc.constant(null))
    const members = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', '__proto__'), value), { maxLength: 12 })
    fc.assert(
      fc.property(members, (list) => {
        const data = list.map(([key, text]) => `${JSON.stringify(key)}:${JSON.stringify(text)}`).join(',')
        const text = `{"data":{${data}},"data":{"d":"x"}}`
        const parsed = parseJson(text)
        const { object } = decode(configMap, parsed.value, { duplicates: parsed.duplicates })
        expect(decodeWithin(configMap, text, Math.max(512, bytesOf(object)))).toEqual(object)
      }),
    )
  })

  it('counts ordinary objects closely', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: Object.fromEntries([...Array(1000).keys()].map((i) => [`k${i}`, `v${i}`])),
    }
    const size = new DecodedSize(1_000_000)
    const decoded = decode(configMap, object, { size }).object
    expect(size.bytes).toBeGreaterThan(0.95 * bytesOf(decoded))
    expect(jsonWeight(decoded)).toBeGreaterThan(0.95 * bytesOf(decoded))
  })

  it('rejects lists whose elements are short in the body but long when printed', () => {
    const list = (element: string) => `{"spec":{"containers":[${Array(2000).fill(element).join(',')}]}}`
    expect(failure(() => decodeWithin(pod, list('{}'), 40_000))).toBe('TooLarge')
    expect(failure(() => decodeWithin(pod, list('null'), 40_000))).toBe('TooLarge')
    expect(failure(() => decodeWithin(pod, list('{}'), 80_000))).toBeUndefined()
    // Field 2 of a pod is its spec; field 2 of the spec is `containers`.
    const empty = new Uint8Array(4000).map((_, index) => (index % 2 === 0 ? 0x12 : 0))
    const message = new Uint8Array([0x12, 0xa0, 0x1f, ...empty])
    expect(failure(() => decodeMessage(pod, message, { size: new DecodedSize(40_000) }))).toBe('TooLarge')
    expect(failure(() => decodeMessage(pod, message, { size: new DecodedSize(80_000) }))).toBeUndefined()
  })

  it('rejects objects that defaults make too large', () => {
    const size = new DecodedSize(25_000)
    const value = { spec: { containers: [{ ports: Array(1000).fill({ containerPort: 1 }) }] } }
    const { object } = decode(pod, value, { size })
    expect(failure(() => applyDefaults(pod, object, { size }))).toBe('TooLarge')
  })

  it('rejects custom resources that schema defaults make too large', () => {
    const objectMeta = types.struct('meta/v1.ObjectMeta')
    const element = { type: 'object', properties: { text: { type: 'string', default: 'x'.repeat(100) } } }
    const spec = { type: 'object', properties: { list: { type: 'array', items: element } } }
    const schema = { type: 'object', properties: { spec } }
    const type = createCustomType({ kind: { group: 'g.example.com', version: 'v1', kind: 'Widget' }, schema, objectMeta })
    const size = new DecodedSize(60_000)
    const value = { apiVersion: 'g.example.com/v1', kind: 'Widget', metadata: {}, spec: { list: Array(1000).fill({}) } }
    const { object } = decode(type, value, { size })
    expect(failure(() => applyDefaults(type, object, { size }))).toBe('TooLarge')
    expect(failure(() => decode(type, value, { size: new DecodedSize(2000) }))).toBe('TooLarge')
  })

  it('counts status and managedFields separately, up to twice the limit', () => {
    const withStatus = (length: number) => JSON.stringify({ spec: {}, status: { message: 'x'.repeat(length) } })
    expect(failure(() => decodeWithin(pod, withStatus(1500), 1000))).toBeUndefined()
    expect(failure(() => decodeWithin(pod, withStatus(2100), 1000))).toBe('TooLarge')
    const managers = (length: number) => JSON.stringify({ metadata: { managedFields: [{ manager: 'x'.repeat(length) }] } })
    expect(failure(() => decodeWithin(configMap, managers(1500), 1000))).toBeUndefined()
    expect(failure(() => decodeWithin(configMap, managers(2100), 1000))).toBe('TooLarge')
  })

  it('bounds repeated and unknown message fields', () => {
    const repeated = new Uint8Array(8000).map((_, index) => (index % 2 === 0 ? 0x0a : 0))
    expect(failure(() => decodeMessage(pod, repeated, { size: new DecodedSize(10_000) }))).toBe('TooLarge')
    const unknown = new Uint8Array(8000).map((_, index) => (index % 2 === 0 ? 0x78 : 0))
    expect(failure(() => decodeMessage(pod, unknown, { size: new DecodedSize(10_000) }))).toBe('TooLarge')
    expect(failure(() => decodeMessage(pod, unknown, { size: new DecodedSize(100_000) }))).toBeUndefined()
  })
})
