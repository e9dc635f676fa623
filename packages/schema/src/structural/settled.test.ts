import type { Work } from '@krmkit/base/work'
import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { CustomCodec, StructType } from '../interfaces.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { createCustomType } from './custom-type.ts'

const text = { kind: 'scalar', scalar: 'string' } as const
const plain = { pointer: false, optional: true, required: false, omitEmpty: true }
const fields = [
  { json: 'name', type: text, ...plain },
  { json: 'generation', type: { kind: 'scalar', scalar: 'int64' } as const, ...plain },
  { json: 'labels', type: { kind: 'map', of: text } as const, ...plain },
]
const objectMeta: StructType = {
  name: 'meta/v1.ObjectMeta',
  typeName: 'ObjectMeta',
  packageName: 'v1',
  group: 'meta.k8s.io',
  version: 'v1',
  openapiName: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  root: false,
  fields,
  field: new Map(fields.map((field) => [field.json, field])),
  raw: {},
}
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const spec = {
  type: 'object',
  properties: {
    free: { ...open, properties: { closed: { type: 'object', properties: { a: { type: 'string' } } } } },
    items: { type: 'array', items: { type: 'object', properties: { x: { type: 'integer', default: 1 } } } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    note: { type: 'string', nullable: true },
    size: { type: 'integer', default: 3 },
  },
}
const kind = { group: 'g.example.com', version: 'v1', kind: 'Widget' }
const codec = createCustomType({ kind, schema: { type: 'object', properties: { spec } }, objectMeta }).custom as CustomCodec

const widget = (of: object, metadata: object = { generation: 1, name: 'a' }): JsonObject =>
  ({ apiVersion: 'g.example.com/v1', kind: 'Widget', metadata, spec: of }) as unknown as JsonObject
const wide = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${String(i).padStart(6, '0')}`, 'v']))

const settled: Record<string, JsonObject> = {
  'all members': widget({ free: { b: { z: null } }, items: [{ x: 2 }], map: { a: 'b' }, note: null, size: 1 }),
  'a closed member inside of an open one': widget({ free: { closed: { a: 'b' } }, size: 1 }),
  labels: widget({ size: 1 }, { generation: 1, labels: { a: 'b' }, name: 'a' }),
  'many members': widget({ free: wide(20_000), size: 1 }),
}

/** Malformed metadata, which only reading from storage accepts. */
const malformed = widget({ size: 1 }, { generation: 1, labels: { a: 1 }, name: 'a' })

const changed: Record<string, JsonObject> = {
  'a missing default': widget({}),
  'a missing default in a list': widget({ items: [{}], size: 1 }),
  'an unknown member': widget({ gone: 1, size: 1 }),
  'an unknown member of a closed object': widget({ free: { closed: { b: 1 } }, size: 1 }),
  'a null that is not allowed': widget({ map: { a: null }, size: 1 }),
  'unsorted members': widget({ size: 1, note: 'b' }),
  'unsorted open members': widget({ free: { x: [{ b: 1, a: 2 }] }, size: 1 }),
  'unsorted metadata': widget({ size: 1 }, { name: 'a', generation: 1 }),
  'no generation': widget({ size: 1 }, { name: 'a' }),
  'unknown metadata': widget({ size: 1 }, { generation: 1, name: 'a', other: 1 }),
  'labels of a wrong type': malformed,
  'many unsorted members': widget({ free: { ...wide(20_000), a: 1 }, size: 1 }),
  'many unknown members': widget({ ...wide(20_000), size: 1 }),
  'many items without a default': widget({ items: Array.from({ length: 20_000 }, () => ({})), size: 1 }),
}

/** Runs work and returns its result and the number of yields. */
function counted<T>(steps: Work<T>): { readonly result: T; readonly yields: number } {
  for (let yields = 0; ; yields++) {
    const { done, value } = steps.next()
    if (done === true) return { result: value, yields }
  }
}

describe('reading a stored custom object', () => {
  it.each(Object.entries(settled))('returns the object itself when nothing changes: %s', (_, object) => {
    expect(codec.readStored(object)).toBe(object)
    expect(counted(codec.paced.readStored(object)).result).toBe(object)
  })

  it.each(Object.entries(changed))('returns the same changed copy with and without pauses: %s', (_, object) => {
    const before = stringifyJson(object)
    const read = codec.readStored(object)
    expect(stringifyJson(read)).not.toBe(before)
    expect(stringifyJson(counted(codec.paced.readStored(object)).result)).toBe(stringifyJson(read))
    expect(stringifyJson(object)).toBe(before)
    expect(codec.readStored(read)).toBe(read)
  })

  it.each(Object.entries({ ...settled, ...changed }).filter(([name]) => name.startsWith('many')))(
    'yields many times: %s',
    (_, object) => {
      expect(counted(codec.paced.readStored(object)).yields).toBeGreaterThan(30)
      expect(counted(codec.paced.decode(object)).yields).toBeGreaterThan(100)
    },
  )

  it('normalizes and prunes with the same result with and without pauses', () => {
    for (const object of [...Object.values(settled), ...Object.values(changed)]) {
      const normal = codec.normalize(object)
      const pairs = [
        [counted(codec.paced.normalize(object)).result, normal],
        [counted(codec.paced.dropUnknownFields(normal)).result, codec.dropUnknownFields(normal)],
      ] as const
      for (const [steps, whole] of pairs) expect(stringifyJson(steps) === stringifyJson(whole)).toBe(true)
      if (object === malformed) continue
      const { object: decoded, problems } = codec.decode(object)
      const { result } = counted(codec.paced.decode(object))
      expect(stringifyJson(result.object)).toBe(stringifyJson(decoded))
      expect(result.problems).toEqual(problems)
    }
  })
})
