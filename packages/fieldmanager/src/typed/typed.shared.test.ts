import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { decodeFieldsV1, encodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { formatFieldsV1 } from '../fieldpath/fields-v1-text.ts'
import { readVectors, sharedMissing } from '../testing/shared.ts'
import { compareTyped } from './compare.direct.ts'
import { formatComparison } from './compare.ts'
import { fieldSetOf } from './field-set-of.ts'
import { typedSchemaFromSmd } from './from-smd.ts'
import { mergeTyped } from './merge.direct.ts'
import { reconcileFieldSet } from './reconcile.ts'
import { extractItems, removeItems } from './remove.ts'
import type { TypeRef } from './types.ts'
import { validateValue } from './validate.direct.ts'

type Vector = JsonObject & { id: string; kind: string; schemaJSON: JsonValue; rootType: string }

describe.skipIf(sharedMissing)(`typed: shared vectors ${sharedMissing ?? ''}`, () => {
  for (const line of readVectors('typed.jsonl')) {
    const vector = line as Vector
    it(`${vector.kind} ${vector.id}`, () => {
      const check = checks[vector.kind]
      if (check === undefined) throw new Error(`no check for ${vector.kind}`)
      check(
        vector,
        vector.schemaJSON === undefined ? (undefined as never) : typedSchemaFromSmd(vector.schemaJSON).type(vector.rootType),
      )
    })
  }
})

const checks: Record<string, (vector: Vector, type: TypeRef) => void> = {
  validate(vector, type) {
    expect(validateValue(vector.object as JsonValue, type).length === 0).toBe(vector.valid)
    if (!vector.validAllowDuplicatesAsserted) return
    const errors = validateValue(vector.object as JsonValue, type, { allowDuplicates: true })
    expect(errors.length === 0).toBe(vector.validAllowDuplicates)
  },
  parseSchema(vector, type) {
    expect(validateValue(vector.object as JsonValue, type)).toEqual([])
  },
  merge(vector, type) {
    const errors = sidesErrors(vector, type, vector.lhsAllowDuplicates === true, vector.rhsAllowDuplicates === true)
    if (vector.expectError) return expect(errors).not.toEqual([])
    expect(errors).toEqual([])
    const out = mergeTyped(vector.lhs, vector.rhs, type) ?? null
    expect(out).toEqual('out' in vector ? vector.out : vector.recordedOut)
  },
  compare(vector, type) {
    const duplicates = vector.allowDuplicates === true
    const errors = sidesErrors(vector, type, duplicates, duplicates)
    if (vector.expectError) return expect(errors).not.toEqual([])
    expect(errors).toEqual([])
    const there = compareTyped(vector.lhs, vector.rhs, type)
    const back = compareTyped(vector.rhs, vector.lhs, type)
    for (const [part, other] of [
      ['added', 'removed'],
      ['modified', 'modified'],
      ['removed', 'added'],
    ] as const) {
      const name = part[0]?.toUpperCase() + part.slice(1)
      const wanted = vector[part] ?? vector[`recorded${name}`]
      expect(encodeFieldsV1(there[part])).toEqual(wanted)
      expect(encodeFieldsV1(back[other])).toEqual(wanted)
    }
    if (typeof vector.expectedText === 'string') expect(formatComparison(there)).toBe(vector.expectedText)
  },
  toFieldSet(vector, type) {
    expect(encodeFieldsV1(fieldSetOf(vector.object as JsonValue, type))).toEqual(vector.set)
  },
  fieldsetOfCreate(vector, type) {
    const { added } = compareTyped({}, vector.object as JsonValue, type)
    expect(encodeFieldsV1(added)).toEqual(vector.set)
    expect(formatFieldsV1(added)).toBe(vector.setText)
  },
  removeExtract(vector, type) {
    const set = decodeFieldsV1(vector.set as JsonObject)
    const object = vector.object as JsonValue
    const options = { appendKeyFields: vector.appendKeyFields === true }
    expect(removeItems(object, set, type)).toEqual('removeOutput' in vector ? vector.removeOutput : vector.recordedRemoveOutput)
    const extracted = extractItems(object, set, type, options)
    expect(extracted).toEqual('extractOutput' in vector ? vector.extractOutput : vector.recordedExtractOutput)
  },
  extract(vector, type) {
    const set = decodeFieldsV1(vector.set as JsonObject)
    expect(extractItems(vector.object as JsonValue, set, type, { appendKeyFields: true })).toEqual(vector.extractOutput)
  },
  reversibleExtract(vector, type) {
    const pso = vector.pso as JsonValue
    const merged = mergeTyped(vector.object, pso, type) as JsonValue
    expect(merged).toEqual(vector.recordedMerged)
    const set = fieldSetOf(pso, type)
    expect(encodeFieldsV1(set)).toEqual(vector.recordedSet)
    expect(encodeFieldsV1(set.leaves())).toEqual(vector.recordedLeaves)
    expect(extractItems(merged, set.leaves(), type)).toEqual(pso)
  },
  reconcile(vector, type) {
    const old = decodeFieldsV1(vector.oldFields as JsonObject)
    const fixed = reconcileFieldSet(old, type)
    if (vector.fixedFields === null) expect(fixed).toBe(old)
    else expect(encodeFieldsV1(fixed)).toEqual(vector.fixedFields)
  },
  excludeFields(vector) {
    const exclude = decodeFieldsV1(vector.exclude as JsonObject | null)
    for (const part of ['Added', 'Modified', 'Removed']) {
      const set = decodeFieldsV1(vector[part.toLowerCase()] as JsonObject)
      expect(encodeFieldsV1(set.recursiveDifference(exclude))).toEqual(vector[`expect${part}`])
    }
  },
}

function sidesErrors(vector: Vector, type: TypeRef, left: boolean, right: boolean): readonly string[] {
  const lhs = validateValue(vector.lhs as JsonValue, type, { allowDuplicates: left })
  return [...lhs, ...validateValue(vector.rhs as JsonValue, type, { allowDuplicates: right })]
}
