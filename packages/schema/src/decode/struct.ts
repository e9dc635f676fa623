import { memberNames, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import type { DecodedSize } from '../json/decoded-size.ts'
import { jsonWeight } from '../json/json-weight.ts'
import { withSortedKeys } from '../json/shape.direct.ts'
import { isParsedObject } from '../json/shape.ts'
import type { DecodeContext, MemberSegments } from './context.ts'
import { copyAny } from './copies.ts'
import type { FieldPlan, StructPlan } from './field-plan.ts'
import { goStructName } from './go-type.ts'

/** Decodes an object of a struct type: members match fields by exact name and are put into field order. */

export function* decodeStruct(
  plan: StructPlan,
  value: unknown,
  context: DecodeContext,
): Work<Record<string, unknown> | undefined> {
  if (!isParsedObject(value)) return context.recordMismatch(value, goStructName(plan.type))
  const slots: unknown[] = new Array(plan.fields.length).fill(undefined)
  const segments = context.segmentsOf(value)
  if (segments !== undefined) return yield* decodeRepeated(plan, segments, slots, context)
  let extra: Record<string, unknown> | undefined
  const keys = memberNames(value)
  if (keys.length > membersPerStep) yield true
  let count = 0
  for (const key of keys) {
    const member = value[key]
    const field = plan.byName.get(key)
    if (field !== undefined) slots[field.index] = yield* decodeField(field, member, context)
    else if (member !== undefined) extra = yield* decodeUnknown(plan, key, member, extra, context)
    if (++count % membersPerStep === 0) yield
  }
  return buildObject(plan, slots, extra, { size: context.size, empties: context })
}

/** Members decoded between two yields when each is small. */
const membersPerStep = 128

function* decodeField(field: FieldPlan, value: unknown, context: DecodeContext): Work<unknown> {
  if (value === null || value === undefined) return undefined
  context.enter(field)
  const { node } = field
  const previous = field.countedSeparately && context.size.useSeparateCount(true)
  const decoded = node.paced === undefined ? node.decode(value, context) : yield* node.paced.decode(value, context)
  if (field.countedSeparately) context.size.useSeparateCount(previous)
  context.leave()
  return decoded
}

/** Reports an unknown member, or copies it if the type preserves unknown members. */
function* decodeUnknown(
  plan: StructPlan,
  key: string,
  value: unknown,
  extra: Record<string, unknown> | undefined,
  context: DecodeContext,
): Work<Record<string, unknown> | undefined> {
  if (!plan.open) {
    context.unknown(key)
    return extra
  }
  const kept = extra ?? {}
  context.enterKey(key)
  const copy = yield* copyAny(value, context)
  setMember(kept, key, copy)
  context.size.add(key.length + 4 + (yield* jsonWeight(copy)))
  context.leave()
  return kept
}

/**
 * Decodes an object with duplicate members. As in Go, a duplicate struct or map is merged into the earlier one; of other values the
 * last one wins.
 */
function* decodeRepeated(
  plan: StructPlan,
  segments: MemberSegments,
  slots: unknown[],
  context: DecodeContext,
): Work<Record<string, unknown>> {
  const last = new Map<string, unknown>()
  let count = 0
  for (const members of segments) {
    for (const [key, value] of members) {
      last.set(key, joined(plan.byName.get(key), last.get(key), value, context))
      if (++count % membersPerStep === 0) yield
    }
  }
  const decoded = new Set<string>()
  let extra: Record<string, unknown> | undefined
  for (const members of segments) {
    const seen = new Set<string>()
    for (const [key] of members) {
      if (++count % membersPerStep === 0) yield
      const field = plan.byName.get(key)
      if (seen.has(key) && (field !== undefined || plan.open)) context.duplicate(key)
      seen.add(key)
      if (decoded.has(key)) continue
      decoded.add(key)
      if (field !== undefined) slots[field.index] = yield* decodeField(field, last.get(key), context)
      else extra = yield* decodeUnknown(plan, key, last.get(key), extra, context)
    }
  }
  return buildObject(plan, slots, extra, { size: context.size, empties: context })
}

export function joined(field: FieldPlan | undefined, earlier: unknown, later: unknown, context: DecodeContext): unknown {
  const kind = field?.field.type.kind
  if (later === null && earlier !== undefined) {
    const nullable = field?.field.pointer || kind === 'list' || kind === 'map'
    return nullable ? null : earlier
  }
  const joins = (kind === 'struct' || kind === 'map') && isParsedObject(earlier) && isParsedObject(later)
  return joins ? context.join(earlier, later) : later
}

/**
 * Builds a canonical object: drops what `omitempty` drops and fills in what Go prints for unset fields.
 *
 * @param slots decoded values by field index.
 */
export function buildObject(
  plan: StructPlan,
  slots: readonly unknown[],
  extra?: Record<string, unknown>,
  { size, empties }: BuildOptions = {},
): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  const { fields } = plan
  let weight = 0
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as FieldPlan
    let value = slots[i]
    if (value === undefined || (field.dropEmpty && field.node.isEmpty(value) && !keepsEmpty(field, empties))) {
      if (field.zero === undefined) continue
      value = field.zero()
      if (size !== undefined) weight += field.zeroBytes()
    }
    weight += field.memberBytes
    if (field.json === '__proto__') setMember(object, field.json, value)
    else object[field.json] = value
  }
  size?.add(weight)
  if (extra === undefined) return object
  for (const key of Object.keys(extra)) setMember(object, key, extra[key])
  return withSortedKeys(object, Object.keys(object))
}

interface BuildOptions {
  /** Counts the members; decoding has already counted their values. */
  readonly size?: DecodedSize
  /** Decides which empty values are kept although `omitempty` drops them. Default: none. */
  readonly empties?: { keepsEmpty(name: string): boolean }
}

/** Whether the empty value of a field is kept. For other types, Go does not distinguish zero from absent. */
function keepsEmpty({ distinctEmpty, json }: FieldPlan, empties: BuildOptions['empties']): boolean {
  return distinctEmpty && empties?.keepsEmpty(json) === true
}
