/** The release that servers serve by default, and the facts of it that the generators read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FieldFile, GroupFile, TypeFile } from '../release-facts/facts.ts'
import { type LifecycleRow, lifecyclesAt } from '../release-facts/lifecycle.ts'
import { type Model, viewAt } from '../release-facts/model.ts'

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

/** The table of lifecycles of the served release. @param home packages/tools/release-facts */
export function servedLifecycles(model: Model, home: string): LifecycleRow[] {
  const first = JSON.parse(readFileSync(join(home, 'lifecycle-1.33.json'), 'utf8')) as LifecycleRow[]
  return lifecyclesAt(model, first, servedMinor)
}
