import { describe, expect, it } from 'vitest'
import { sharedFiles, sharedTypes } from '../../testdata/types.ts'
import { createZodSchemas } from './zod-schema.ts'

/** Published objects with every field set. Their string values are invented, so enumerations are not checked. */

const types = sharedTypes()
const files = sharedFiles('golden/').filter(({ name }) => name.endsWith('.json'))

describe.skipIf(types === undefined || files.length === 0)('golden objects (skipped when ../shared is absent)', () => {
  const schemas = createZodSchemas({ enums: false })
  const folders = new Map(types?.folders.map((folder) => [types.group(folder).group || 'core', folder]))

  it.each(files.map(({ name, bytes }) => [name, bytes] as const))('%s', (name, bytes) => {
    const [, group, version, kind] = /^(.*)\.(v\d\w*)\.(\w+)\.json$/.exec(name) as unknown as [string, string, string, string]
    const options = types!.has(`meta/v1.${kind}`) && kind.endsWith('Options')
    const type = types!.struct(options ? `meta/v1.${kind}` : `${folders.get(group)}/${version}.${kind}`)
    const object = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    expect(schemas.of(type).parse(object)).toEqual(object)
    expect(schemas.of(type).safeParse({ ...object, notAMember: 1 }).success).toBe(false)
    if (!options) expect(schemas.of(type).safeParse({ ...object, kind: 'Other' }).success).toBe(false)
  })
})
