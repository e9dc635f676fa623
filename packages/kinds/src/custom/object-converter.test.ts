import { type ApiObject, stockProfile } from '@krmkit/meta'
import { createCustomType } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { builtInTypes } from '../catalog/catalog.ts'
import type { KindInfo } from '../interfaces.ts'
import { objectConversion } from './object-converter.ts'

const objectMeta = builtInTypes(stockProfile).struct('meta/v1.ObjectMeta')
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', additionalProperties: { type: 'integer' } }, added: { type: 'string', default: 'd' } },
}

function kindOf(version: string): KindInfo {
  const kind = { group: 'g.example.com', version, kind: 'Widget' }
  const type = createCustomType({ kind, schema, objectMeta })
  return { ...kind, listKind: 'WidgetList', namespaced: true, type: () => type }
}

const kinds = new Map(['v1', 'v2'].map((version) => [`g.example.com/${version}`, kindOf(version)]))
const metadata = { generation: 1, name: 'a' }
const widget = (version: string, rest: object = {}) =>
  ({ apiVersion: `g.example.com/${version}`, kind: 'Widget', metadata, ...rest }) as ApiObject

/** Converts by adding members and a field that no version knows. */
const conversion = (spec: object) =>
  objectConversion({
    apiVersion: 'g.example.com/v2',
    storedVersion: 'g.example.com/v1',
    kinds,
    converter: async (objects, apiVersion) =>
      objects.map((object) => ({ ...object, apiVersion, spec, extra: 1 }) as unknown as ApiObject),
  })

describe('objects that a webhook has converted', () => {
  it('lose unknown members and get defaults', async () => {
    const [read] = await conversion({ b: 1, a: 2 }).read([widget('v1')])
    expect(JSON.stringify(read)).toBe(JSON.stringify({ added: 'd', ...widget('v2'), spec: { a: 2, b: 1 } }))
    expect(await conversion({ a: 2 }).write(widget('v2'))).toEqual({ ...widget('v1'), added: 'd', spec: { a: 2 } })
  })

  it('are completed while other requests run where they are large', async () => {
    const spec = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, i]))
    const expected = { added: 'd', ...widget('v2'), spec }
    let turns = 0
    let over = false
    const count = (): void => {
      turns++
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    const [read] = await conversion(spec).read([widget('v1')])
    over = true
    expect(turns).toBeGreaterThan(3)
    expect(read).toEqual(expected)
  })
})
