import type { JsonObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { remoteDocument } from './remote-documents.ts'

const document: JsonObject = {
  paths: {
    '/apis/wardle.example.com/v1/flunders': {
      get: { parameters: [{ $ref: '#/parameters/limit' }], responses: { 200: { schema: { $ref: '#/definitions/Flunder' } } } },
    },
    '/apis/other.example.com/v1/things': { get: { responses: { 200: { schema: { $ref: '#/definitions/Thing' } } } } },
    '/version/': {},
  },
  definitions: {
    Flunder: { type: 'object', properties: { spec: { $ref: '#/definitions/a~1Spec' }, self: { $ref: '#/definitions/Flunder' } } },
    'a/Spec': { type: 'object' },
    Thing: { type: 'object' },
  },
  parameters: { limit: { name: 'limit', in: 'query', type: 'integer' }, unused: { name: 'unused', in: 'query', type: 'string' } },
}

it('extracts the paths below the prefix, with the definitions and parameters that they reference', () => {
  const { etag, parts } = remoteDocument(document, { prefix: '/apis/wardle.example.com/v1/', etag: 'E' })
  const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).sort()
  expect(etag).toBe('E')
  expect(names(parts.paths)).toEqual(['/apis/wardle.example.com/v1/flunders'])
  expect(names(parts.schemas)).toEqual(['Flunder', 'a/Spec'])
  expect(names(parts.parameters)).toEqual(['limit'])
})

it('ignores members of unexpected types', () => {
  for (const broken of [{}, { paths: [] }, { paths: { '/apis/a/v1/x': 5 }, definitions: 'no' }] as JsonObject[]) {
    expect(remoteDocument(broken, { prefix: '/apis/a/v1/', etag: '' }).parts).toEqual({ paths: [], schemas: [], parameters: [] })
  }
  const hostile = JSON.parse(
    '{"paths":{"/apis/a/v1/x":{"$ref":"#/definitions/__proto__"}},"definitions":{"__proto__":{"type":"object"}}}',
  ) as JsonObject
  expect(remoteDocument(hostile, { prefix: '/apis/a/v1/', etag: '' }).parts.schemas).toHaveLength(1)
  let deep: JsonObject = {}
  for (let depth = 0; depth < 100_000; depth++) deep = { items: deep }
  const poisoned = { paths: { '/apis/a/v1/x': { get: deep }, '/apis/a/v1/y': {} } } as JsonObject
  const { paths } = remoteDocument(poisoned, { prefix: '/apis/a/v1/', etag: '' }).parts
  expect(paths.map(({ name }) => name)).toEqual(['/apis/a/v1/y'])
})
