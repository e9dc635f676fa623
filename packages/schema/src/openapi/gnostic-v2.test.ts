import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { encodeOpenapiV2 } from './gnostic-v2.ts'
import { at, read, text } from './testing/wire-fields.ts'

const document: JsonObject = {
  swagger: '2.0',
  info: { title: 'T', version: 'v1' },
  paths: {
    '/a': {
      patch: {
        operationId: 'patchA',
        parameters: [
          { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/a' } },
          { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
          { $ref: '#/parameters/force' },
        ],
        responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/a' } } },
        'x-kubernetes-group-version-kind': { group: '', kind: 'A', version: 'v1' },
      },
    },
  },
  definitions: {
    a: {
      type: 'object',
      required: ['b'],
      properties: {
        b: { type: 'integer', minimum: 1.5, maxLength: 3, default: false, enum: ['x'] },
        c: { additionalProperties: true },
      },
      items: { type: 'string' },
      oneOf: [{ type: 'string' }],
    },
  },
  securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  security: [{ BearerToken: [] }],
}

describe('protobuf form of OpenAPI v2', () => {
  const bytes = encodeOpenapiV2(document)
  const operation = at(bytes, 8, 2, 2, 8) as Uint8Array

  it('encodes strings and messages', () => {
    expect(text(at(bytes, 1))).toBe('2.0')
    expect(text(at(bytes, 2, 2))).toBe('v1')
    expect(text(at(bytes, 8, 2, 1))).toBe('/a')
    expect(text(at(operation, 5))).toBe('patchA')
  })

  it('encodes the three kinds of parameters', () => {
    const [body, query, reference] = read(operation).get(8) as Uint8Array[]
    expect(text(at(body!, 1, 1, 2))).toBe('body')
    expect(at(body!, 1, 1, 4)).toBe(1n)
    expect(text(at(query!, 1, 2, 3, 4))).toBe('dryRun')
    expect(at(query!, 1, 2, 3, 20)).toBe(1n)
    expect(text(at(reference!, 2, 1))).toBe('#/parameters/force')
  })

  it('encodes responses by status code with their schema', () => {
    expect(text(at(operation, 9, 1, 1))).toBe('200')
    expect(text(at(operation, 9, 1, 2, 1, 2, 1, 1))).toBe('#/definitions/a')
  })

  it('encodes extensions, defaults and enum values as YAML', () => {
    expect(text(at(operation, 13, 1))).toBe('x-kubernetes-group-version-kind')
    expect(text(at(operation, 13, 2, 2))).toBe('group: ""\nkind: A\nversion: v1\n')
    const property = at(bytes, 9, 1, 2, 25, 1, 2) as Uint8Array
    expect(text(at(property, 5, 2))).toBe('false\n')
    expect(text(at(property, 20, 2))).toBe('x\n')
    expect(at(property, 9)).toBe('1.5')
    expect(at(property, 11)).toBe(3n)
  })

  it('encodes types, items and additional properties of schemas and omits unknown keywords', () => {
    const schema = at(bytes, 9, 1, 2) as Uint8Array
    expect(text(at(schema, 22, 1))).toBe('object')
    expect(text(at(schema, 23, 1, 22, 1))).toBe('string')
    expect(text(at(schema, 19))).toBe('b')
    const second = (read(at(schema, 25) as Uint8Array).get(1) as Uint8Array[])[1]!
    expect(at(second, 2, 21, 2)).toBe(1n)
    expect([...read(schema).keys()].sort((a, b) => a - b)).toEqual([19, 22, 23, 25])
  })

  it('encodes security definitions', () => {
    expect(text(at(bytes, 12, 1, 1))).toBe('BearerToken')
    expect(text(at(bytes, 13, 1, 2, 2, 3))).toBe('header')
  })
})
