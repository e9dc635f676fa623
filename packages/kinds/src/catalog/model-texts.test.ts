import { readdirSync, readFileSync } from 'node:fs'
import { createTypeSource, type StructType, type TypeSource } from '@krmkit/schema'
import { expect, it } from 'vitest'
import { builtInTypes } from './catalog.ts'

/** The compact text of the types against the facts that it is generated from. */

const folder = new URL('../../../tools/facts/', import.meta.url)

interface Facts {
  readonly versions?: Readonly<
    Record<string, { types: object; named?: Readonly<Record<string, { aliasOf?: string }>>; enums?: object }>
  >
}

const texts = Object.fromEntries(
  readdirSync(folder).map((file) => [file.replace('.json', ''), readFileSync(new URL(file, folder), 'utf8')]),
)

const names = Object.entries(texts).flatMap(([group, text]) =>
  Object.entries((JSON.parse(text) as Facts).versions ?? {}).flatMap(([version, { types, named = {} }]) => {
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
  const facts = createTypeSource(texts)
  const packed = builtInTypes()
  expect(names.length).toBeGreaterThan(1100)
  for (const name of names) {
    expect(packed.has(name), name).toBe(facts.has(name))
    if (facts.has(name)) expect(described(packed, name), name).toEqual(described(facts, name))
  }
  expect(packed.folders.map((each) => packed.group(each))).toEqual(packed.folders.map((each) => facts.group(each)))
})
