import { runAtOnce } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type Conflict, formatConflicts } from '../merge/conflict.ts'
import type { Managers, VersionedSet } from '../merge/managers.ts'
import { readVectors, sharedMissing } from '../testing/shared.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { typedSchemaFromSmd } from '../typed/from-smd.ts'
import { namedFieldsAsMembers } from '../typed/named-fields.ts'
import {
  compareElements,
  type ElementParts,
  elementParts,
  type FieldPath,
  fieldElement,
  indexElement,
  type KeyField,
  keyElement,
  type PathElement,
  parseElement,
  valueElement,
} from './element.ts'
import { FieldSet } from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.direct.ts'
import { formatFieldsV1, parseFieldsV1 } from './fields-v1-text.ts'
import { formatPath } from './format-path.ts'
import { fieldSetFromValue } from './from-value.ts'
import { filterSet, prefixMatcher } from './set-filter.ts'

type Vector = JsonObject & { id: string; kind: string }
interface SetForm {
  paths: string[][]
  fieldsV1: JsonObject
}

describe.skipIf(sharedMissing)(`fieldpath: shared vectors ${sharedMissing ?? ''}`, () => {
  for (const line of readVectors('fieldpath.jsonl')) {
    const vector = line as Vector
    it(`${vector.kind} ${vector.id}`, () => {
      const check = checks[vector.kind]
      if (check === undefined) throw new Error(`no check for ${vector.kind}`)
      check(vector)
    })
  }
})

const checks: Record<string, (vector: Vector) => void> = {
  pathElementRoundTrip(vector) {
    const text = vector.string as string
    expect(parseElement(text)).toBe(text)
    expectParts(text, vector.parts)
  },
  pathElementParse(vector) {
    const element = parseElement(vector.string as string) as string
    expect(element).toBe(vector.recordedCanonical)
    expectParts(element, vector.parts)
  },
  pathElementInvalid(vector) {
    expect(() => parseElement(vector.string as string)).toThrow()
  },
  pathElementUnknown(vector) {
    expect(parseElement(vector.string as string)).toBeUndefined()
  },
  pathElementLess(vector) {
    if (vector.a === null || vector.b === null) return
    const order = compareElements(vector.a as string, vector.b as string)
    expect(order === 0).toBe(vector.eq)
    expect(order < 0).toBe(vector.less)
  },
  pathString(vector) {
    expect(formatPath(vector.path as string[])).toBe(vector.string)
  },
  setSerialize(vector) {
    const set = FieldSet.of(...(vector.paths as string[][]))
    expect(formatFieldsV1(set)).toBe(vector.json)
    expect(parseFieldsV1(vector.json as string).equals(set)).toBe(true)
  },
  setRoundTrip(vector) {
    expect(formatFieldsV1(parseFieldsV1(vector.json as string))).toBe(vector.json)
  },
  setNormalize(vector) {
    expect(formatFieldsV1(parseFieldsV1(vector.json as string))).toBe(vector.normalized)
  },
  setValid(vector) {
    expect(formatFieldsV1(parseFieldsV1(vector.json as string))).toBe(vector.recordedCanonical)
  },
  setInvalid(vector) {
    expect(() => parseFieldsV1(vector.json as string)).toThrow()
  },
  setHas(vector) {
    expect(setOf(vector.set).has(vector.path as string[])).toBe(vector.has)
  },
  setString(vector) {
    expect(String(setOf(vector.set))).toBe(vector.string)
  },
  setIterate(vector) {
    const set = setOf(vector.set)
    expect(set.size).toBe(vector.size)
    expect(String(set)).toBe(vector.string)
  },
  setEquals(vector) {
    expect(setOf(vector.a).equals(setOf(vector.b))).toBe(vector.equal)
  },
  setOp(vector) {
    const a = setOf(vector.a)
    const out = a[vector.op as 'union' | 'intersection' | 'difference' | 'recursiveDifference'](setOf(vector.b))
    expectSet(out, vector.out)
  },
  setLeaves(vector) {
    expectSet(setOf(vector.set).leaves(), vector.out)
  },
  ensureNamedFieldsAreMembers(vector) {
    const { type } = typedSchemaFromSmd(vector.schemaJSON as JsonValue)
    const root = type(vector.rootType as string)
    const set = fieldSetOf(vector.object as JsonValue, root)
    expectSet(set, vector.before)
    const target =
      vector.newSchemaJSON === undefined ? root : typedSchemaFromSmd(vector.newSchemaJSON as JsonValue).type(root.name as string)
    expectSet(runAtOnce(namedFieldsAsMembers(set, target)), vector.after)
  },
  filterInclude(vector) {
    const matcher = prefixMatcher(...(vector.patterns as string[][]))
    expectSet(filterSet(setOf(vector.set), { include: matcher }), vector.out)
  },
  setFromValue(vector) {
    expectSet(fieldSetFromValue(vector.object as JsonValue), vector.set)
  },
  managersEquals(vector) {
    expect(differentManagers(managersOf(vector.lhs), managersOf(vector.rhs)).size === 0).toBe(vector.equal)
  },
  managersDifference(vector) {
    const out = differentManagers(managersOf(vector.lhs), managersOf(vector.rhs))
    const plain = Object.fromEntries([...out].map(([name, owned]) => [name, { ...owned, set: encodeFieldsV1(owned.set) }]))
    const wanted = Object.entries((vector.out ?? {}) as unknown as Record<string, { set: SetForm }>)
    expect(plain).toEqual(Object.fromEntries(wanted.map(([name, owned]) => [name, { ...owned, set: owned.set.fieldsV1 }])))
  },
  conflictsError(vector) {
    expect(formatConflicts(vector.conflicts as unknown as Conflict[])).toBe(vector.text ?? vector.error ?? vector.string)
  },
  conflictsToSet(vector) {
    expectSet(FieldSet.of(...(vector.conflicts as unknown as Conflict[]).map(({ path }) => path)), vector.set ?? vector.out)
  },
}

function setOf(form: unknown): FieldSet {
  const { paths, fieldsV1 } = form as SetForm
  const set = FieldSet.of(...(paths as FieldPath[]))
  expect(decodeFieldsV1(fieldsV1).equals(set)).toBe(true)
  return set
}

function expectSet(set: FieldSet, form: unknown): void {
  const { paths, fieldsV1 } = form as SetForm
  expect(set.paths()).toEqual(paths)
  expect(encodeFieldsV1(set)).toEqual(fieldsV1)
  expect(decodeFieldsV1(fieldsV1).equals(set)).toBe(true)
}

function expectParts(element: string, parts: unknown): void {
  const wanted = parts as { field?: string; key?: KeyField[]; value?: JsonValue; index?: number }
  const { kind, ...found } = elementParts(element)
  expect(Object.values(found)[0]).toEqual(Object.values(wanted)[0])
  expect(elementOf({ kind, ...found } as ElementParts)).toBe(element)
}

function managersOf(form: unknown): Managers {
  const entries = Object.entries((form ?? {}) as Record<string, { apiVersion: string; applied: boolean; set: SetForm }>)
  return new Map(entries.map(([name, owned]) => [name, { ...owned, set: setOf(owned.set) }]))
}

function elementOf(parts: ElementParts): PathElement {
  switch (parts.kind) {
    case 'field':
      return fieldElement(parts.name)
    case 'key':
      return keyElement(parts.fields)
    case 'value':
      return valueElement(parts.value)
    default:
      return indexElement(parts.index)
  }
}

/** The symmetric difference: per manager the paths owned in only one of both, or, when the version differs, the set of `b`. */
function differentManagers(a: Managers, b: Managers): Managers {
  const out = new Map<string, VersionedSet>()
  for (const [manager, left] of a) {
    const right = b.get(manager)
    if (right === undefined) {
      if (!left.set.empty) out.set(manager, left)
    } else if (left.apiVersion !== right.apiVersion) out.set(manager, right)
    else {
      const set = left.set.difference(right.set).union(right.set.difference(left.set))
      if (!set.empty) out.set(manager, { ...left, set, applied: false })
    }
  }
  for (const [manager, right] of b) if (!a.has(manager) && !right.set.empty) out.set(manager, right)
  return out
}
