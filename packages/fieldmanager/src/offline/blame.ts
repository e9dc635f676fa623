import type { JsonObject, JsonValue } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { readManifest } from '@krmkit/schema/manifest'
import { type FieldPath, fieldElement, indexElement, type PathElement } from '../fieldpath/element.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import { itemElement } from '../typed/list-item.ts'
import { asList, asMap, formOf, memberType, type TypeRef } from '../typed/types.ts'
import { entrySets, type Owner } from './ownership.ts'
import { type OfflineSchema, typeOf } from './schema.ts'

/** A value of an object with its owners. */
export interface BlamedValue {
  /** Member names and list positions on the path to the value. */
  readonly steps: readonly (string | number)[]
  /** The printed path: `.spec.containers[name="app"].image`. */
  readonly field: string
  /** Owners in the order of the entries. Owners of an atomic value own all its parts. */
  readonly owners: readonly Owner[]
}

/** A line of YAML with the owners of its value. */
export interface BlamedLine {
  readonly text: string
  /** The value on the line; the last one when there are several. */
  readonly field: string
  readonly owners: readonly Owner[]
}

/**
 * The owners of each value of an object, outer values first; unowned values have an empty list. Omits `metadata.managedFields`.
 *
 * @throws FieldManagerError `InvalidFieldSet` when entries cannot be decoded.
 * @example
 * ```ts
 * import { apply, blame } from '@krmkit/fieldmanager'
 *
 * const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const { object } = apply({ applied, manager: 'ci' })
 * const values = blame(object).map(({ field, owners }) => `${field}: ${owners.map(({ manager }) => manager)}`)
 * values.slice(-2) // ['.data: ci', '.data.color: ci']
 * ```
 */
export function blame(object: JsonObject, schema?: OfflineSchema): BlamedValue[] {
  const owned = entrySets(object)
  const ownersOf = (path: FieldPath) => owned.filter(({ set }) => set.has(path)).map(({ owner }) => owner)
  const found: BlamedValue[] = []
  visit({ value: withoutEntries(object), type: typeOf(schema), path: [], steps: [], whole: undefined }, ownersOf, found)
  return found
}

/**
 * Prints the object as YAML, with the owners of each line.
 *
 * @throws FieldManagerError `InvalidFieldSet` when entries cannot be decoded.
 * @example
 * ```ts
 * import { apply, blameLines } from '@krmkit/fieldmanager'
 *
 * const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const { object } = apply({ applied, manager: 'ci' })
 * const lines = blameLines(object).map(({ text, owners }) => `${text} # ${owners.map(({ manager }) => manager)}`)
 * lines[2] // '  color: blue # ci'
 * ```
 */
export function blameLines(object: JsonObject, schema?: OfflineSchema): BlamedLine[] {
  const yaml = printYaml(withoutEntries(object))
  const [document] = readManifest(yaml)
  const texts = yaml.split('\n').slice(0, -1)
  const lines: (BlamedValue | undefined)[] = texts.map(() => undefined)
  for (const value of blame(object, schema)) {
    if (document?.kind !== 'document') break
    const { line } = document.range(value.steps.map((step) => `[${step}]`).join(''), 'name')
    const before = lines[line - 1]
    if (before === undefined || value.owners.length > 0 || before.owners.length === 0) lines[line - 1] = value
  }
  let last: BlamedValue | undefined
  return texts.map((text, index) => {
    // A line on which no value starts continues the previous value.
    last = lines[index] ?? last
    return { text, field: last?.field ?? '', owners: last?.owners ?? [] }
  })
}

interface Visited {
  readonly value: JsonValue
  readonly type: TypeRef | undefined
  readonly path: FieldPath
  readonly steps: readonly (string | number)[]
  /** Owners of the enclosing atomic value. */
  readonly whole: readonly Owner[] | undefined
}

function visit(at: Visited, ownersOf: (path: FieldPath) => readonly Owner[], found: BlamedValue[]): void {
  const { value, type, path, steps, whole } = at
  const owners = whole ?? ownersOf(path)
  if (steps.length > 0) found.push({ steps, field: formatPath(path), owners })
  const atomic = isAtomic(value, type)
  const inner = whole ?? (atomic ? owners : undefined)
  const into = (step: string | number, element: PathElement, member: JsonValue, of: TypeRef | undefined): void =>
    visit({ value: member, type: of, path: [...path, element], steps: [...steps, step], whole: inner }, ownersOf, found)
  const map = asMap(value)
  if (map !== undefined) {
    for (const name of Object.keys(map)) {
      into(name, fieldElement(name), map[name] as JsonValue, type?.atom.map && memberType(type.atom.map, name))
    }
    return
  }
  const list = type?.atom.list
  asList(value)?.forEach((item, index) => {
    const element = list === undefined || list.atomic ? undefined : itemElement(list, item)
    into(index, typeof element === 'string' ? element : indexElement(index), item, list?.items)
  })
}

function isAtomic(value: JsonValue, type: TypeRef | undefined): boolean {
  if (type === undefined) return false
  const form = formOf(type.atom, value)
  return form === 'list' ? type.atom.list?.atomic === true : form === 'map' && type.atom.map?.atomic === true
}

function withoutEntries(object: JsonObject): JsonObject {
  const metadata = asMap(object.metadata ?? null)
  if (metadata === undefined || !Object.hasOwn(metadata, 'managedFields')) return object
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest }
}
