import { builtInTypes, type ResourceDefinition } from '@krmkit/kinds'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { Fingerprints } from './fingerprint.ts'

const info = { name: 'widgets', singularName: 'widget', namespaced: true, verbs: ['get'], shortNames: [], categories: [] }
const kind = { group: 'g.example.com', version: 'v1', kind: 'Widget' }

/** The tag of a definition, and the interruptions while it is computed. */
function tagOf(schema: object): { readonly tag: string; readonly steps: number } {
  const types = builtInTypes(stockProfile)
  const customForm = () => ({ schema: schema as never })
  const definition = {
    ...kind,
    kind,
    resource: { ...info, kind },
    subresources: [],
    strategy: {},
  } as unknown as ResourceDefinition
  const work = new Fingerprints({ types, version: 'v1.33.0', profile: stockProfile, customForm }).definition(definition)
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { tag: value, steps }
  }
}

const properties = (type: string) => Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type }]))

describe('tags of definitions', () => {
  it('differ with their schemas', () => {
    const tags = [
      {},
      { description: '<' },
      { description: '>' },
      { properties: properties('string') },
      { properties: properties('integer') },
    ]
    expect(new Set(tags.map((schema) => tagOf(schema).tag)).size).toBe(tags.length)
    expect(tagOf({ properties: properties('string') }).tag).toBe(tagOf({ properties: properties('string') }).tag)
  })

  it('are computed in steps where the schema is large', () => {
    expect(tagOf({ properties: properties('string') }).steps).toBeGreaterThan(30)
  })
})
