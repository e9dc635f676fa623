import { builtInTypes } from '@krmkit/kinds'
import type { ApiBody } from '@krmkit/protocol'
import { encodeJson, encodeProtobuf, printYaml, readEnvelope, stringifyJson } from '@krmkit/schema'
import { decodeMessage, ProtobufListEncoder } from '@krmkit/schema/protobuf'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ElementText, jsonListWriter, type ListWriter, protobufListWriter, yamlListWriter } from './list-writers.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'Z', '<', '&', '\n', ' ', '"', '\\', '\u2028', '0', ':', '-', '#', 'é') })
const data = fc.dictionary(
  fc.constantFrom('10', '9', 'a', 'b-c', ''),
  fc.oneof(text, fc.string({ minLength: 5000, maxLength: 5100 })),
)
const configMaps = fc.array(fc.record({ metadata: fc.record({ name: text }), data }), { maxLength: 4 })

const envelope = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7', continue: '<' } }
const ofResource = { list: { ...envelope, items: [] }, member: 'items' }

function written(writer: ListWriter, elements: readonly object[]): Buffer {
  for (const element of elements) for (const _ of writer.element(element));
  return bytesOf(writer.end())
}

function bytesOf(body: ApiBody): Buffer {
  if (body.kind === 'bytes') return Buffer.from(body.bytes)
  if (body.kind !== 'list') throw new Error(body.kind)
  const bytes = Buffer.concat(body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes())))
  expect(body.length).toBe(bytes.byteLength)
  return bytes
}

describe('lists encoded element by element', () => {
  it('are encoded in many steps when an element is large', () => {
    const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'v']))
    const writer = jsonListWriter(ofResource, { pretty: false })
    expect([...writer.element({ data })].length).toBeGreaterThan(50)
    expect(bytesOf(writer.end()).toString()).toBe(
      `${JSON.stringify({ ...envelope, items: [{ data }] }).replace('<', '\\u003c')}\n`,
    )
  })

  it('equal the JSON of the whole', () => {
    fc.assert(
      fc.property(configMaps, (items) => {
        const whole = encodeJson({ ...envelope, items }, { newline: true })
        expect(written(jsonListWriter(ofResource, { pretty: false }), items).equals(whole)).toBe(true)
        const texts = items.map((item) => new ElementText(stringifyJson(item)))
        expect(written(jsonListWriter(ofResource, { pretty: false }), texts).equals(whole)).toBe(true)
      }),
    )
  })

  it('keep the members after the elements', () => {
    const { kind, apiVersion } = envelope
    const list = { apiVersion, items: [], kind, metadata: { resourceVersion: '7' }, unset: undefined }
    for (const items of [[], [{ a: 1 }], [{ a: 1 }, { b: 2 }]]) {
      const frame = { list, member: 'items' }
      expect(written(jsonListWriter(frame, { pretty: false }), items).toString()).toBe(`${JSON.stringify({ ...list, items })}\n`)
      expect(written(jsonListWriter(frame, { pretty: true }), items).toString()).toBe(JSON.stringify({ ...list, items }, null, 2))
    }
  })

  it('equal the YAML of the whole', () => {
    fc.assert(
      fc.property(configMaps, (items) => {
        expect(written(yamlListWriter(ofResource), items).toString()).toBe(printYaml({ ...envelope, items }))
      }),
    )
    const table = { kind: 'Table', apiVersion: 'v1', columnDefinitions: [{ name: 'Name' }] }
    for (const rows of [[], [{ cells: ['a', 1], object: {} }, {}]])
      expect(written(yamlListWriter({ list: { ...table, rows: [] }, member: 'rows' }), rows).toString()).toBe(
        printYaml({ ...table, rows }),
      )
  })

  it('equal the protobuf of the whole', () => {
    const type = builtInTypes().struct('core/v1.ConfigMapList')
    fc.assert(
      fc.property(configMaps, (items) => {
        const bytes = written(protobufListWriter(ofResource, type), items)
        expect(bytes.equals(encodeProtobuf(type, { ...envelope, items }))).toBe(true)
        expect(decodeMessage(type, readEnvelope(bytes).raw)).toHaveProperty('metadata.resourceVersion', '7')
      }),
    )
  })

  it('put the metadata after the elements when its field number is higher', () => {
    const type = builtInTypes().struct('meta/v1beta1.PartialObjectMetadataList')
    const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1beta1', metadata: { resourceVersion: '7' } }
    for (const items of [[], [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }]]) {
      const bytes = written(protobufListWriter({ list: { ...list, items: [] }, member: 'items' }, type), items)
      expect(bytes.equals(encodeProtobuf(type, { ...list, items }))).toBe(true)
    }
  })

  it('have no protobuf form where the type has none', () => {
    const type = builtInTypes().struct('core/v1.ConfigMap')
    expect(() => new ProtobufListEncoder(type, {}, 'data')).toThrow('no list of data')
  })
})
