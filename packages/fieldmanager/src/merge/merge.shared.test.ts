import { runAtOnce } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { FieldSet } from '../fieldpath/field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import type { SetFilter } from '../fieldpath/set-filter.ts'
import { readVectors, sharedMissing } from '../testing/shared.ts'
import { typedSchemaFromSmd } from '../typed/from-smd.ts'
import { mergeTyped } from '../typed/merge.direct.ts'
import { extractItems } from '../typed/remove.ts'
import type { TypeRef } from '../typed/types.ts'
import { validateValue } from '../typed/validate.direct.ts'
import { type Converter, identityConverter, type TypedValue } from './converter.ts'
import type { Managers, VersionedSet } from './managers.ts'
import { applyManager, updateManagers } from './updater.direct.ts'
import type { UpdaterOptions } from './updater.ts'

interface Op {
  op: string
  manager: string
  apiVersion: string
  object: JsonValue
  conflicts: { manager: string; path: string[] }[] | null
  acceptedVersions?: string[]
  schemaJSON?: JsonValue
  rootType?: string
  after: {
    live: JsonValue
    managed: Record<string, { apiVersion: string; applied: boolean; set: JsonObject }>
    noop?: boolean
    conflicts?: unknown
    error?: string
  }
}

interface Vector {
  id: string
  schemaJSON: JsonValue
  rootType: string | null
  rootTypes: Record<string, string>
  converter: string | null
  returnInputOnNoop: boolean
  ignoredFields?: Record<string, JsonObject>
  ignoreFilter?: Record<string, { exclude: JsonObject }>
  initialObject?: JsonValue
  ops: Op[]
  expectedVersion?: string
  expectedObject?: JsonValue
  expectedManaged?: Record<string, { apiVersion: string; set: JsonObject }>
  expectError?: { op: number }
}

describe.skipIf(sharedMissing)(`merge: shared vectors ${sharedMissing ?? ''}`, () => {
  for (const line of readVectors('merge.jsonl')) {
    const vector = line as unknown as Vector
    it(vector.id, () => run(vector))
  }
})

function run(vector: Vector): void {
  const state = new State(vector)
  for (const [index, op] of vector.ops.entries()) {
    if (vector.expectError?.op === index) {
      expect(() => state.step(op)).toThrow()
      return
    }
    state.step(op)
    if (op.op !== 'ChangeParser') {
      expect(state.live?.value ?? null, `live after op ${index}`).toEqual(op.after.live)
      expect(plainManagers(state.managers), `owners after op ${index}`).toEqual(op.after.managed)
    }
  }
  if (vector.expectedObject !== undefined) {
    const live = state.convert(state.live as TypedValue, vector.expectedVersion as string)
    expect(live.value).toEqual(vector.expectedObject)
  }
  if (vector.expectedManaged !== undefined) {
    const found = Object.fromEntries(
      [...state.managers].map(([name, { apiVersion, set }]) => [name, { apiVersion, set: encodeFieldsV1(set) }]),
    )
    const wanted = Object.entries(vector.expectedManaged).map(([name, { apiVersion, set }]) => [name, { apiVersion, set }])
    expect(found).toEqual(Object.fromEntries(wanted))
  }
}

function plainManagers(managers: Managers) {
  return Object.fromEntries([...managers].map(([name, { set, ...rest }]) => [name, { ...rest, set: encodeFieldsV1(set) }]))
}

type PlainConverter = Omit<Converter, 'convert'> & { convert(object: TypedValue, apiVersion: string): TypedValue | undefined }

class State {
  live: TypedValue | undefined
  managers: Managers = new Map<string, VersionedSet>()
  #accepted: readonly string[] = []
  #typeOf: (apiVersion: string) => TypeRef
  readonly #options: UpdaterOptions
  readonly #converter: Converter

  constructor(vector: Vector) {
    const schema = typedSchemaFromSmd(vector.schemaJSON)
    this.#typeOf = (version) => schema.type(vector.rootTypes[version] ?? (vector.rootType as string))
    const { convert, isKnown } = this.#makeConverter(vector.converter)
    this.#converter = {
      // biome-ignore lint/correctness/useYield: nothing to wait for
      *convert(object, apiVersion) {
        return convert(object, apiVersion)
      },
      ...(isKnown === undefined ? {} : { isKnown }),
    }
    const ignored: Record<string, SetFilter> = {}
    for (const [version, set] of Object.entries(vector.ignoredFields ?? {})) ignored[version] = { exclude: decodeFieldsV1(set) }
    for (const [version, filter] of Object.entries(vector.ignoreFilter ?? {}))
      ignored[version] = { exclude: decodeFieldsV1(filter.exclude) }
    this.#options = { converter: this.#converter, ignored, returnInputOnNoop: vector.returnInputOnNoop }
    if (vector.initialObject !== undefined) {
      this.live = { value: vector.initialObject, type: this.#typeOf(vector.ops[0]?.apiVersion as string) }
    }
  }

  convert(object: TypedValue, apiVersion: string): TypedValue {
    const out = runAtOnce(this.#converter.convert(object, apiVersion))
    if (out === undefined) throw new Error(`no version ${apiVersion}`)
    return out
  }

  step(op: Op): void {
    if (op.acceptedVersions !== undefined) this.#accepted = op.acceptedVersions
    if (op.op === 'ChangeParser') {
      const schema = typedSchemaFromSmd(op.schemaJSON as JsonValue)
      const old = this.#typeOf
      this.#typeOf = (version) => schema.type(op.rootType ?? (old(version).name as string))
      if (this.live !== undefined)
        this.live = this.#parse(this.live.value as JsonValue, schema.type(this.live.type.name as string), true)
      return
    }
    const type = this.#typeOf(op.apiVersion)
    this.live = this.convert(this.live ?? { value: null, type }, op.apiVersion)
    if (op.op === 'Update') this.#update(op, this.#parse(op.object, type, true))
    else if (op.op === 'ExtractApply') this.#apply(this.#extracted(op, type), op, true)
    else this.#apply(this.#parse(op.object, type, false), op, op.op === 'ForceApply')
  }

  #write(op: Op) {
    return { live: this.live as TypedValue, apiVersion: op.apiVersion, managers: this.managers, manager: op.manager }
  }

  #update(op: Op, next: TypedValue): void {
    this.managers = updateManagers(this.#write(op), next, this.#options)
    this.live = next
  }

  #apply(applied: TypedValue, op: Op, force: boolean): void {
    const outcome = applyManager(this.#write(op), applied, force, this.#options)
    if (outcome.kind === 'conflict') {
      const found = outcome.conflicts.map(({ manager, path }) => `${manager} ${path.join(' ')}`).sort()
      const wanted = (op.conflicts ?? []).map(({ manager, path }) => `${manager} ${path.join(' ')}`).sort()
      expect(found).toEqual(wanted)
      expect(found).not.toEqual([])
      return
    }
    expect(op.conflicts ?? []).toEqual([])
    if (op.after.noop !== undefined) expect(outcome.object === undefined, 'noop').toBe(op.after.noop)
    if (outcome.object !== undefined) this.live = outcome.object
    this.managers = outcome.managers
  }

  #extracted(op: Op, type: TypeRef): TypedValue {
    const parsed = this.#parse(op.object, type, false)
    const live = this.live as TypedValue
    if (live.value === null) return parsed
    const set = this.managers.get(op.manager)?.set.leaves() ?? FieldSet.of()
    return { value: mergeTyped(extractItems(live.value as JsonValue, set, type), op.object, type) ?? null, type }
  }

  #parse(value: JsonValue, type: TypeRef, allowDuplicates: boolean): TypedValue {
    const errors = validateValue(value, type, { allowDuplicates })
    if (errors.length > 0) throw new Error(errors.join('\n'))
    return { value, type }
  }

  #makeConverter(name: string | null): PlainConverter {
    const typed = (value: JsonValue, version: string): TypedValue => ({ value, type: this.#typeOf(version) })
    switch (name) {
      case 'renamingConverter':
        return { convert: ({ value, type }, to) => typed(renamed(value as JsonValue, type.name as string, to), to) }
      case 'repeatingConverter':
        return {
          convert: ({ value }, to) =>
            /^v[0-9]+$/.test(to) ? typed(repeated(value as JsonValue, Number(to.slice(1))), to) : undefined,
        }
      case 'reliantFieldsConverter':
      case 'versionDoesntMatchTypenameConverter':
        return { convert: (object, to) => reliant(object, to, typed) }
      case 'specificVersionConverter':
        return { convert: (object, to) => (this.#accepted.includes(to) ? object : undefined) }
      default:
        return {
          convert: ({ value }, to) => ({ value, type: this.#typeOf(to) }),
          isKnown: identityConverter.isKnown as (v: string) => boolean,
        }
    }
  }
}

function renamed(value: JsonValue, from: string, to: string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => renamed(item, from, to))
  if (!isJsonObject(value)) return value
  const out: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    out[key.endsWith(from) ? key.slice(0, -from.length) + to : key] = renamed(member, from, to)
  }
  return out
}

function repeated(value: JsonValue, times: number): JsonValue {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return value
  const [key] = Object.keys(value).sort() as [string]
  const below = value[key] as JsonValue
  if (!isJsonObject(below) || Object.keys(below).length === 0) return { [key]: below }
  return { [key]: repeatBelow(below, times) }
}

function repeatBelow(value: JsonValue, times: number): JsonValue {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return null
  const out: JsonObject = {}
  for (const key of Object.keys(value).sort()) out[(key[0] as string).repeat(times)] = repeatBelow(value[key] as JsonValue, times)
  return out
}

function reliant(
  object: TypedValue,
  to: string,
  typed: (value: JsonValue, version: string) => TypedValue,
): TypedValue | undefined {
  const from = (object.type.name as string).replace('Type', '').toLowerCase()
  if (from === to) return object
  if (to !== 'v1' && to !== 'v2') return undefined
  const [source, target] =
    to === 'v1' ? ['required_field_bar', 'field_foo_rely_on_bar'] : ['field_foo_rely_on_bar', 'required_field_bar']
  const value = object.value as JsonValue
  if (!isJsonObject(value)) return typed(value, to)
  if (to === 'v1' && !Object.hasOwn(value, source as string)) throw new Error('a required field is missing')
  const out: JsonObject = {}
  for (const [key, member] of Object.entries(value)) out[key === source ? (target as string) : key] = member
  return typed(out, to)
}
