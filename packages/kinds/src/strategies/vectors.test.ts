import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import type { Json } from './testing/recorded.ts'
import { runVector, type Vector } from './testing/vectors.ts'

const folder = new URL('../../testdata/strategies/', import.meta.url)
const catalog = createCatalog({ runtimeConfig: 'storage.k8s.io/v1beta1=true' })

for (const file of readdirSync(folder).sort()) {
  const vectors = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Vector[]
  describe(file.replace('.json', ''), () => {
    it.each(vectors)('$name', async (vector) => {
      const { errors, warnings, object } = await runVector(vector, catalog)
      expect(errors).toEqual(vector.expect.errors)
      if (vector.expect.warnings !== undefined) expect(warnings).toEqual(vector.expect.warnings)
      if (vector.expect.object !== undefined) expect(pick(object, vector.expect.object)).toEqual(vector.expect.object)
    })
  })
}

/** The members that the vector specifies. */
function pick(object: Json, wanted: Json): Json {
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, object[name]]))
}
