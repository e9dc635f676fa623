// Derived from struct.ts by `npm run direct`: do not edit.

import { setMember } from '@krmkit/meta'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { isParsedObject } from '../json/shape.ts'
import type { DecodeContext, MemberSegments } from './context.ts'
import { copyAny } from './copies.direct.ts'
import type { FieldPlan, StructPlan } from './field-plan.ts'
import { goStructName } from './go-type.ts'
import { buildObject, joined } from './struct.ts'

/** Decodes an object of a struct type: members match fields by exact name and are put into field order. */
export function decodeStruct(plan: StructPlan, value: unknown, context: DecodeContext): Record<string, unknown> | undefined {
  if (!isParsedObject(value)) return context.recordMismatch(value, goStructName(plan.type))
  const slots: unknown[] = new Array(plan.fields.length).fill(undefined)
  const segments = context.segmentsOf(value)
  if (segments !== undefined) return decodeRepeated(plan, segments, slots, context)
  let extra: Record<string, unknown> | undefined

  for (const key in value) {
    const member = value[key]
    const field = plan.byName.get(key)
    if (field !== undefined) slots[field.index] = decodeField(field, member, context)
    else if (member !== undefined) extra = decodeUnknown(plan, key, member, extra, context)
  }
  return buildObject(plan, slots, extra, { size: context.size, empties: context })
}

function decodeField(field: FieldPlan, value: unknown, context: DecodeContext): unknown {
  if (value === null || value === undefined) return undefined
  context.enter(field)
  const { node } = field
  const previous = field.countedSeparately && context.size.useSeparateCount(true)
  const decoded = node.decode(value, context)
  if (field.countedSeparately) context.size.useSeparateCount(previous)
  context.leave()
  return decoded
}

/** Reports an unknown member, or copies it if the type preserves unknown members. */
function decodeUnknown(
  plan: StructPlan,
  key: string,
  value: unknown,
  extra: Record<string, unknown> | undefined,
  context: DecodeContext,
): Record<string, unknown> | undefined {
  if (!plan.open) {
    context.unknown(key)
    return extra
  }
  const kept = extra ?? {}
  context.enterKey(key)
  const copy = copyAny(value, context)
  setMember(kept, key, copy)
  context.size.add(key.length + 4 + jsonWeight(copy))
  context.leave()
  return kept
}

/**
 * Decodes an object with duplicate members. As in Go, a duplicate struct or map is merged into the earlier one; of other values the
 * last one wins.
 */
function decodeRepeated(
  plan: StructPlan,
  segments: MemberSegments,
  slots: unknown[],
  context: DecodeContext,
): Record<string, unknown> {
  const last = new Map<string, unknown>()

  for (const members of segments) {
    for (const [key, value] of members) {
      last.set(key, joined(plan.byName.get(key), last.get(key), value, context))
    }
  }
  const decoded = new Set<string>()
  let extra: Record<string, unknown> | undefined
  for (const members of segments) {
    const seen = new Set<string>()
    for (const [key] of members) {
      const field = plan.byName.get(key)
      if (seen.has(key) && (field !== undefined || plan.open)) context.duplicate(key)
      seen.add(key)
      if (decoded.has(key)) continue
      decoded.add(key)
      if (field !== undefined) slots[field.index] = decodeField(field, last.get(key), context)
      else extra = decodeUnknown(plan, key, last.get(key), extra, context)
    }
  }
  return buildObject(plan, slots, extra, { size: context.size, empties: context })
}
