import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { encodeOpenapiV3 } from './gnostic-v3.ts'
import { at, read, text } from './testing/wire-fields.ts'

const document: JsonObject = {
  openapi: '3.0.0',
  info: { title: 'T', version: 'v1' },
  paths: {
    '/a': {
      post: {
        tags: ['x'],
        operationId: 'createA',
        parameters: [{ name: 'dryRun', in: 'query', schema: { type: 'string', uniqueItems: true } }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/a' } } }, required: true },
        responses: { 201: { description: 'Created', content: { '*/*': { schema: { $ref: '#/components/schemas/a' } } } } },
        'x-kubernetes-action': 'post',
      },
    },
  },
  components: {
    schemas: {
      a: {
        type: 'object',
        properties: {
          zero: { type: 'integer', default: 0 },
          no: { type: 'boolean', default: false },
          empty: { type: 'string', default: '' },
          object: { allOf: [{ $ref: '#/components/schemas/b' }], default: {} },
          open: { type: 'object', additionalProperties: { type: 'string' } },
          all: { type: 'object', additionalProperties: true },
          list: { type: 'array', items: { $ref: '#/components/schemas/b' } },
          either: { oneOf: [{ type: 'integer' }, { type: 'string' }], not: { required: ['x'] }, nullable: true },
        },
      },
    },
    securitySchemes: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  },
}

describe('protobuf form of OpenAPI v3', () => {
  const bytes = encodeOpenapiV3(document)
  const operation = at(bytes, 4, 1, 2, 6) as Uint8Array
  const properties = new Map(
    (read(at(bytes, 5, 1, 1, 2, 1, 31) as Uint8Array).get(1) as Uint8Array[]).map((entry) => [
      text(at(entry, 1)),
      at(entry, 2, 1) as Uint8Array,
    ]),
  )

  it('encodes operations with parameters, bodies and responses', () => {
    expect(text(at(bytes, 1))).toBe('3.0.0')
    expect(text(at(bytes, 2, 6))).toBe('v1')
    expect(text(at(operation, 5))).toBe('createA')
    expect(text(at(operation, 6, 1, 1))).toBe('dryRun')
    expect(at(operation, 6, 1, 10, 1, 20)).toBe(1n)
    expect(text(at(operation, 7, 1, 2, 1, 2, 1, 2, 1))).toBe('#/components/schemas/a')
    expect(text(at(operation, 8, 2, 1))).toBe('201')
    expect(text(at(operation, 8, 2, 2, 1, 3, 1, 1))).toBe('*/*')
    expect(text(at(operation, 13, 2, 2))).toBe('post\n')
  })

  it('encodes scalar defaults including zeros, and only the presence of object defaults', () => {
    expect(at(properties.get('zero')!, 33, 1)).toBe('0')
    expect(at(properties.get('no')!, 33, 2)).toBe(0n)
    expect(text(at(properties.get('empty')!, 33, 3))).toBe('')
    expect((at(properties.get('object')!, 33) as Uint8Array).length).toBe(0)
  })

  it('encodes references and alternatives', () => {
    expect(text(at(properties.get('object')!, 26, 2, 1))).toBe('#/components/schemas/b')
    expect(text(at(properties.get('open')!, 32, 1, 1, 25))).toBe('string')
    expect(at(properties.get('all')!, 32, 2)).toBe(1n)
    expect(text(at(properties.get('list')!, 30, 1, 2, 1))).toBe('#/components/schemas/b')
    const either = properties.get('either')!
    expect(read(either).get(27)).toHaveLength(2)
    expect(text(at(either, 29, 23))).toBe('x')
    expect(at(either, 1)).toBe(1n)
    expect(text(at(bytes, 5, 7, 1, 2, 1, 4))).toBe('header')
  })
})
