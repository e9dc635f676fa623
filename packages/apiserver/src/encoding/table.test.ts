import type { Printer } from '@krmkit/kinds'
import type { FrozenObject } from '@krmkit/registry'
import { describe, expect, it } from 'vitest'
import { parseQuery } from '../request/query.ts'
import { sampleServer } from '../testing/sample-server.ts'
import { includeObject, partialListOf, partialOf, tableOf } from './table.ts'

const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, spec: 1 } as unknown as FrozenObject
const printer: Printer = {
  columns: [{ name: 'Name', type: 'string', format: 'name', description: 'The name.', priority: 0 }],
  cells: ({ metadata }) => [metadata.name ?? ''],
}
const options = { version: 'v1', include: 'Metadata', now: 0 } as const

describe('tables', () => {
  it('have columns, and a row with metadata per object [P31] [P32]', () => {
    expect(tableOf(printer, [object], { resourceVersion: '7', continue: '' }, options)).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7' },
      columnDefinitions: printer.columns,
      rows: [{ cells: ['a'], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } } }],
    })
  })

  it('order the metadata of a list like other lists', () => {
    const metadata = { resourceVersion: '7', continue: 'c', remainingItemCount: 2 }
    expect(JSON.stringify(tableOf(printer, [], metadata, options))).toContain(JSON.stringify(metadata))
  })

  it('omit annotations that hold fields, unlike whole objects', () => {
    const annotations = { a: '1', field: '2' }
    const annotated = { ...object, metadata: { name: 'a', annotations, labels: {} } } as unknown as FrozenObject
    const shown = (withoutAnnotations: string[]) =>
      JSON.stringify((partialOf(annotated, { version: 'v1', withoutAnnotations }) as FrozenObject).metadata)
    expect(shown([])).toBe('{"name":"a","annotations":{"a":"1","field":"2"},"labels":{}}')
    expect(shown(['field'])).toBe('{"name":"a","annotations":{"a":"1"},"labels":{}}')
    expect(shown(['field', 'a'])).toBe('{"name":"a","labels":{}}')
  })

  it('rows contain the requested object', () => {
    const objectIn = (include: 'None' | 'Object') =>
      (tableOf(printer, [object], {}, { ...options, include }) as { rows: { object: unknown }[] }).rows[0]?.object
    expect(objectIn('None')).toBeNull()
    expect(objectIn('Object')).toBe(object)
  })

  it('send their columns once per stream', () => {
    expect(tableOf(printer, [], {}, { ...options, headless: true })).toMatchObject({ columnDefinitions: null, rows: [] })
  })

  it('accept three values of includeObject', () => {
    expect(
      ['', 'includeObject=', 'includeObject=None', 'includeObject=Object'].map((query) => includeObject(parseQuery(query))),
    ).toEqual(['Metadata', 'Metadata', 'None', 'Object'])
    expect(() => includeObject(parseQuery('includeObject=all'))).toThrow(expect.objectContaining({ code: 400 }))
  })

  it('metadata only, as one object or a list', () => {
    expect(partialOf(object, { version: 'v1beta1' })).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1beta1',
      metadata: { name: 'a' },
    })
    expect(partialListOf([object], { resourceVersion: '7' }, { version: 'v1' })).toMatchObject({
      kind: 'PartialObjectMetadataList',
      metadata: { resourceVersion: '7' },
      items: [{ metadata: { name: 'a' } }],
    })
  })

  it('are sent to clients that request them [P193]', async () => {
    const { ask } = await sampleServer()
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { json } = await ask('/api/v1/namespaces', { headers: { accept } })
    expect(json).toMatchObject({ kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Status' }, { name: 'Age' }] })
    expect(json.rows[0].cells).toEqual(['default', 'Active', '0s'])
  })
})
