import { join } from 'node:path'
import { typesAt } from '@krmkit/kinds/releases'
import { createTypeSource, type StructType, type TypeSource } from '@krmkit/schema'
import { expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import { readModel, viewAt } from '../release-facts/model.ts'

/** The types of emulated releases against the facts of these releases. */

const model = readModel(join(root, 'packages/tools/release-facts/model'))

/** Everything that a type says; other structs by name, enumerations with their values. */
function described(source: TypeSource, name: string): unknown {
  const { raw: _, field, ...type } = source.struct(name)
  return JSON.parse(
    JSON.stringify({ ...type, members: [...field.keys()] }, (key, value) =>
      key === 'struct' && typeof value === 'function' ? (value as () => StructType)().name : value,
    ),
  )
}

it.each([24, 28, 31, 33, 34, 35, 36, 37])('1.%i: emulation has the types, fields and enumerations of the release', (minor) => {
  const { groups } = viewAt(model, minor)
  // The text has one mark for both kinds of unions.
  const text = (group: object) => JSON.stringify(group).replaceAll('"zeroOrOneOf":', '"oneOf":')
  const facts = createTypeSource(Object.fromEntries([...groups].map(([folder, group]) => [folder, text(group)])))
  const emulated = typesAt(`1.${minor}`)
  for (const [folder, { versions }] of groups) {
    for (const [version, { types }] of Object.entries(versions)) {
      for (const name of Object.keys(types).map((type) => `${folder}/${version}.${type}`)) {
        expect(emulated.has(name), name).toBe(facts.has(name))
        if (facts.has(name)) expect(described(emulated, name), name).toEqual(described(facts, name))
      }
    }
    expect([...emulated.group(folder).versions].sort(), folder).toEqual(Object.keys(versions).sort())
  }
})
