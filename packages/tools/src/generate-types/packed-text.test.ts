import { join } from 'node:path'
import { builtInTypes } from '@krmkit/kinds'
import { createTypeSource, type StructType, type TypeSource } from '@krmkit/schema'
import { expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import { readModel } from '../release-facts/model.ts'
import { groupsAt, servedMinor } from './served-release.ts'

/** The compact text of the types against the facts that it is generated from. */

const groups = groupsAt(readModel(join(root, 'packages/tools/release-facts/model')), servedMinor)

const names = [...groups].flatMap(([group, { versions }]) =>
  Object.entries(versions).flatMap(([version, { types, named = {} }]) => {
    const aliases = Object.keys(named).filter((name) => named[name]?.aliasOf !== undefined)
    return [...new Set([...Object.keys(types), ...aliases])].map((name) => `${group}/${version}.${name}`)
  }),
)

/** Everything that a type says; other structs by name, enumerations with their values. */
function described(source: TypeSource, name: string): unknown {
  const { raw: _, field, ...type } = source.struct(name)
  return JSON.parse(
    JSON.stringify({ ...type, members: [...field.keys()] }, (key, value) =>
      key === 'struct' && typeof value === 'function' ? (value as () => StructType)().name : value,
    ),
  )
}

it('the compact text gives the types, fields and enumerations of the facts', () => {
  const facts = createTypeSource(Object.fromEntries([...groups].map(([folder, facts]) => [folder, JSON.stringify(facts)])))
  const packed = builtInTypes()
  expect(names.length).toBeGreaterThan(1100)
  for (const name of names) {
    expect(packed.has(name), name).toBe(facts.has(name))
    if (facts.has(name)) expect(described(packed, name), name).toEqual(described(facts, name))
  }
  expect(packed.folders.map((each) => packed.group(each))).toEqual(packed.folders.map((each) => facts.group(each)))
})
