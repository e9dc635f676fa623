/** The release that servers serve by default, and the facts of it that the generators read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FieldFile, GroupFile, TypeFile, VersionFile } from '../release-facts/facts.ts'
import { type LifecycleRow, lifecyclesAt } from '../release-facts/lifecycle.ts'
import { type Model, minorsOf, viewAt } from '../release-facts/model.ts'

/** Minor number of the release that is served by default. */
export const servedMinor = 33

/** @see storage specification, 2.4 */
const resizeStatus: FieldFile = {
  json: 'resizeStatus',
  go: 'ResizeStatus',
  type: { scalar: 'string' },
  pointer: true,
  optional: true,
  omitempty: true,
  proto: { number: 6, type: 'bytes', rep: 'opt' },
}

/** Fields that objects keep although the release no longer has them, with their numbers, which are unused since. */
const keptFields: readonly (readonly [folder: string, version: string, type: string, field: FieldFile])[] = [
  ['core', 'v1', 'PersistentVolumeClaimStatus', resizeStatus],
]

/** The groups of a release, with the fields that are kept. */
export function groupsAt(model: Model, minor: number): ReadonlyMap<string, GroupFile> {
  const groups = new Map(viewAt(model, minor).groups)
  for (const [folder, version, type, field] of keptFields) {
    const group = groups.get(folder)!
    const facts = group.versions[version]!
    const types = { ...facts.types, [type]: withField(facts.types[type]!, field) }
    groups.set(folder, { ...group, versions: { ...group.versions, [version]: { ...facts, types } } })
  }
  return groups
}

/** The type with the field in the order of numbers, unless it has it. */
function withField(type: TypeFile, field: FieldFile): TypeFile {
  if (type.fields.some(({ json }) => json === field.json)) return type
  const { number } = field.proto!
  if (type.fields.some(({ proto }) => proto?.number === number)) throw new Error(`the number of ${field.json} is used`)
  const next = type.fields.findIndex(({ proto }) => (proto?.number ?? 0) > number)
  return { ...type, fields: type.fields.toSpliced(next < 0 ? type.fields.length : next, 0, field) }
}

/** The newest release of the model, which can be emulated. */
export function newestMinor(model: Model): number {
  return minorsOf(model).at(-1)!
}

/** The table of lifecycles up to the newest release, as packages/kinds/src/catalog/lifecycle.ts describes it. @param home packages/tools/release-facts */
export function newestLifecycles(model: Model, home: string): object[] {
  const first = JSON.parse(readFileSync(join(home, 'lifecycle-1.33.json'), 'utf8')) as LifecycleRow[]
  return lifecyclesAt(model, first, newestMinor(model)).map(({ served133, servedFirst: _, servedLast, ...row }) => {
    return { ...row, servedLast: servedLast ?? (served133 === true ? '1.33' : null) }
  })
}

/**
 * The groups of the served release, with the versions, types and fields that only the newest one has: what TypeScript types describe, since
 * strategies handle objects of both.
 */
export function groupsOfBoth(model: Model): ReadonlyMap<string, GroupFile> {
  const groups = new Map(groupsAt(model, newestMinor(model)))
  for (const [folder, group] of groupsAt(model, servedMinor)) {
    const newest = groups.get(folder)
    groups.set(folder, newest === undefined ? group : withNewer(group, newest))
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function withNewer(group: GroupFile, newest: GroupFile): GroupFile {
  const versions = { ...newest.versions }
  for (const [version, facts] of Object.entries(group.versions)) {
    const newer = versions[version]
    versions[version] = newer === undefined ? facts : withNewerTypes(facts, newer)
  }
  return { ...group, versions }
}

function withNewerTypes(facts: VersionFile, newer: VersionFile): VersionFile {
  const types = Object.entries(facts.types).map(([name, type]): [string, TypeFile] => {
    const known = new Set(type.fields.map(({ json }) => json))
    const added = (newer.types[name]?.fields ?? []).filter(({ json }) => !known.has(json))
    return [name, { ...type, fields: [...type.fields, ...added] }]
  })
  const enums = Object.entries(facts.enums).map(([name, values]): [string, readonly string[]] => {
    return [name, [...new Set([...values, ...(newer.enums[name] ?? [])])]]
  })
  return {
    ...facts,
    served: facts.served === true || newer.served === true,
    kinds: { ...newer.kinds, ...facts.kinds },
    types: { ...newer.types, ...Object.fromEntries(types) },
    named: { ...newer.named, ...facts.named },
    enums: { ...without(newer.enums, facts.constants), ...Object.fromEntries(enums) },
    constants: { ...without(newer.constants, facts.enums), ...facts.constants },
    scalars: { ...newer.scalars, ...facts.scalars },
  }
}

/** The members that another record does not have: a release may state a list of constants as an enumeration. */
function without<T>(members: Readonly<Record<string, T>> = {}, others: object = {}): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !Object.hasOwn(others, name)))
}
