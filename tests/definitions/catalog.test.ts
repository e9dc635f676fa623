import { catalogLookup, validateManifests } from 'krmkit/validate'
import { describe, expect, it } from 'vitest'
import { packagedCatalog, smallest } from './packaged-schemas.ts'
import { samples } from './samples.ts'

/** `krmkit validate` reads catalogs of JSON schemas: those of well-known projects convert, and judge objects as expected. */

const catalog = packagedCatalog()
const lookups = [catalogLookup({ read: async (path) => catalog.get(path) })]
const findingsOf = async (objects: readonly object[]) => {
  const files = objects.map((object, i) => ({ path: `${i}.json`, text: JSON.stringify(object) }))
  const { findings } = await validateManifests(files, { lookups })
  return findings.map(({ rule, path, message }) => `${rule} ${path}: ${message}`)
}

it('reads every schema', async () => {
  expect(catalog.size).toBeGreaterThanOrEqual(60)
  const objects = [...catalog].map(([, schema], i) => {
    const { properties, ...rest } = JSON.parse(schema) as { properties: Record<string, { enum?: string[] }> }
    const typed = { apiVersion: properties.apiVersion?.enum?.[0], kind: properties.kind?.enum?.[0] }
    return { ...(smallest({ properties, ...rest } as never) as object), ...typed, metadata: { name: `o${i}` } }
  })
  const found = await findingsOf(objects)
  expect(found.filter((each) => /^(?:unreadable-definition|missing-definition|internal|unknown-field)/.test(each))).toEqual([])
})

describe('realistic objects', () => {
  it.each(samples.map((sample) => [`${sample.kind} of ${sample.apiVersion}`, sample] as const))('%s', async (_name, sample) => {
    const object = { ...sample, metadata: { name: 'sample' } }
    expect(await findingsOf([object])).toEqual([])
    expect(await findingsOf([{ ...object, spec: 'nothing' }])).toEqual([expect.stringMatching(/^type spec: /)])
  })
})
