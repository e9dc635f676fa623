import { runAtOnce, type Work } from '@krmkit/base/work'
import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { discoveryTypes } from '../../testdata/discovery-types.ts'
import { createCustomSchemas } from './custom.ts'
import { documentEncodings } from './document-encodings.ts'
import { encodeOpenapiV2 } from './gnostic-v2.ts'
import { encodeOpenapiV3 } from './gnostic-v3.ts'
import { at } from './testing/wire-fields.ts'

function wide(count: number, property: JsonObject): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, property]))
}

const nested: JsonObject = { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } }
const schema: JsonObject = {
  type: 'object',
  properties: {
    flat: { type: 'object', properties: wide(5000, { type: 'string', description: 'text' }) },
    deep: { type: 'object', properties: wide(300, nested), additionalProperties: { type: 'integer' } },
    choice: { type: 'object', oneOf: [{ required: ['a'] }, { not: { required: ['b'] } }] },
  },
}

describe('a large schema', () => {
  const { body } = createCustomSchemas({
    kind: { group: 'example.com', version: 'v1', kind: 'Wide' },
    listKind: 'WideList',
    schema,
    source: discoveryTypes(),
  })
  const entryOf = (dialect: 'v2' | 'v3') => ({
    name: body.name,
    build: () => body.of(dialect),
    paced: { build: () => body.paced?.of(dialect) as Work<JsonObject> },
  })

  it.each(['v2 json', 'v3 json', 'v2 protobuf', 'v3 protobuf'] as const)('is encoded with many yields: %s', (name) => {
    const { dialect, encode } = documentEncodings[name]
    const steps = encode.schemas(entryOf(dialect))
    let count = 1
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThan(5000)
  })

  it('has the same bytes as in one step', () => {
    const v2 = runAtOnce(documentEncodings['v2 protobuf'].encode.schemas(entryOf('v2')))
    const whole = at(encodeOpenapiV2({ definitions: { [body.name]: body.of('v2') } }), 9, 1)
    expect(Buffer.from(v2).subarray(-(whole as Uint8Array).length)).toEqual(Buffer.from(whole as Uint8Array))
    const v3 = runAtOnce(documentEncodings['v3 protobuf'].encode.schemas(entryOf('v3')))
    const wholeV3 = at(encodeOpenapiV3({ components: { schemas: { [body.name]: body.of('v3') } } }), 5, 1, 1)
    expect(Buffer.from(v3).subarray(-(wholeV3 as Uint8Array).length)).toEqual(Buffer.from(wholeV3 as Uint8Array))
  })
})
