import type { JsonObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { convertToV3 } from './v2-to-v3.ts'

const document: JsonObject = {
  swagger: '2.0',
  info: { title: 'T', version: '1' },
  paths: {
    '/apis/g/v1/a': {
      parameters: [{ $ref: '#/parameters/pretty' }],
      post: {
        operationId: 'createA',
        consumes: ['application/json'],
        produces: ['application/json', 'application/yaml'],
        schemes: ['https'],
        parameters: [
          { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/A' } },
          { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
        ],
        responses: { 201: { description: 'Created', schema: { $ref: '#/definitions/A' } }, 401: { description: 'Unauthorized' } },
        'x-kubernetes-action': 'post',
      },
    },
    '/apis/other/v1/b': { get: { responses: {} } },
  },
  definitions: {
    A: {
      type: 'object',
      properties: {
        meta: { description: 'About it.', $ref: '#/definitions/Meta' },
        list: { type: 'array', items: { $ref: '#/definitions/Meta' } },
        default: { $ref: '#/definitions/Meta' },
        kept: { type: 'object', default: { $ref: '#/definitions/Meta' } },
      },
    },
    Meta: { type: 'object' },
  },
  parameters: { pretty: { name: 'pretty', in: 'query', type: 'string', description: 'Indent.', uniqueItems: true } },
}

it('converts an OpenAPI v2 document to v3', () => {
  const schema = { schema: { $ref: '#/components/schemas/A' } }
  const ref = { $ref: '#/components/schemas/Meta' }
  expect(convertToV3(document, ['/apis/g/v1/'])).toEqual({
    openapi: '3.0.0',
    info: { title: 'T', version: '1' },
    paths: {
      '/apis/g/v1/a': {
        parameters: [{ name: 'pretty', in: 'query', description: 'Indent.', schema: { type: 'string', uniqueItems: true } }],
        post: {
          operationId: 'createA',
          parameters: [{ name: 'dryRun', in: 'query', schema: { type: 'string', uniqueItems: true } }],
          requestBody: { content: { 'application/json': schema } },
          responses: {
            201: { description: 'Created', content: { 'application/json': schema, 'application/yaml': schema } },
            401: { description: 'Unauthorized' },
          },
          'x-kubernetes-action': 'post',
        },
      },
    },
    components: {
      schemas: {
        A: {
          type: 'object',
          properties: {
            meta: { description: 'About it.', allOf: [ref] },
            list: { type: 'array', items: ref },
            default: ref,
            kept: { type: 'object', default: { $ref: '#/definitions/Meta' } },
          },
        },
        Meta: { type: 'object' },
      },
    },
  })
})

it('ignores members of unexpected types', () => {
  for (const broken of [
    {},
    { paths: 5, definitions: [], parameters: null },
    { paths: { '/a': { get: 5, parameters: [1, { $ref: 'x' }] } } },
  ]) {
    expect(convertToV3(broken as JsonObject, ['/']).openapi).toBe('3.0.0')
  }
  let deep: JsonObject = { type: 'string' }
  for (let depth = 0; depth < 5000; depth++) deep = { items: deep }
  expect(JSON.stringify(convertToV3({ definitions: { deep } }, [])).length).toBeLessThan(10_000)
})
