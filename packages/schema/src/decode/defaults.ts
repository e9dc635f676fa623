import type { JsonObject } from '@krmkit/meta'
import type { StructType, TypeNode } from '../interfaces.ts'
import { copyJson } from '../json/copy.ts'
import { setMember } from '../json/syntax.ts'
import { type DecodedSize, jsonWeight } from './decoded-size.ts'
import { type FieldPlan, type NodePlan, planOf, type StructPlan } from './plan.ts'
import { isObject } from './shape.ts'
import { buildObject } from './struct.ts'

/** Defaults that the facts of a type carry. Those that depend on other fields are the business of each kind. */

/**
 * Fills in defaults where the member is unset: absent for pointers, the zero value otherwise; in nested structs, list elements and
 * map values too, but only in those that are there.
 *
 * @param object canonical; never changed.
 * @returns a canonical object that shares with `object` what did not change, and nothing with other objects; the same object when
 *   nothing did.
 * @throws DecodeError `TooLarge`
 */
export function applyDefaults<T extends object>(type: StructType, object: T, options: DefaultsOptions = {}): T {
  if (type.custom !== undefined) return type.custom.applyDefaults(object as JsonObject, options.size) as T
  return defaultStruct(planOf(type), object as Record<string, unknown>, options.size) as T
}

export interface DefaultsOptions {
  /** The count of the decoding that made the object: what is filled in is added to it. Default: no limit. */
  readonly size?: DecodedSize | undefined
}

/** Whether `applyDefaults` can do anything to objects of the type. */
export function hasDefaults(type: StructType): boolean {
  const known = reached.get(type)
  if (known !== undefined) return known
  const seen = new Set<StructType>([type])
  let found = false
  for (const next of seen) {
    for (const field of planOf(next).fields) {
      if (effectiveDefault(field) !== undefined) found = true
      const inner = structOf(field.field.type)
      if (inner !== undefined) seen.add(inner)
    }
    if (found) break
  }
  reached.set(type, found)
  return found
}

/** A memo: what is in it follows from the type alone. */
const reached = new WeakMap<StructType, boolean>()

/** The struct that a node holds, through lists and maps. */
function structOf(node: TypeNode): StructType | undefined {
  if (node.kind === 'struct') return node.struct()
  return node.kind === 'list' || node.kind === 'map' ? structOf(node.of) : undefined
}

function defaultStruct(
  plan: StructPlan,
  object: Record<string, unknown>,
  size: DecodedSize | undefined,
): Record<string, unknown> {
  const fields = defaultingFields(plan)
  let changes: Map<number, unknown> | undefined
  for (let i = 0; i < fields.length; i++) {
    const { field, fallback } = fields[i] as DefaultingField
    const value = memberOf(object, field)
    const filled = defaultField(field, fallback, value, size)
    if (filled === value) continue
    changes ??= new Map()
    changes.set(field.index, filled)
  }
  return changes === undefined ? object : withChanges(plan, object, changes)
}

/** A field that has a default, or that holds structs with some. */
interface DefaultingField {
  readonly field: FieldPlan
  readonly fallback: unknown
}

/** A memo: what is in it follows from the type alone. */
const defaulting = new WeakMap<StructPlan, readonly DefaultingField[]>()

function defaultingFields(plan: StructPlan): readonly DefaultingField[] {
  const known = defaulting.get(plan)
  if (known !== undefined) return known
  const fields = plan.fields.flatMap((field): DefaultingField[] => {
    const fallback = effectiveDefault(field)
    const inner = structOf(field.field.type)
    return fallback !== undefined || (inner !== undefined && hasDefaults(inner)) ? [{ field, fallback }] : []
  })
  defaulting.set(plan, fields)
  return fields
}

function memberOf(object: Record<string, unknown>, field: FieldPlan): unknown {
  return Object.hasOwn(object, field.json) ? object[field.json] : undefined
}

/** A zero default of a field that is no pointer changes nothing. */
function effectiveDefault({ field, node }: FieldPlan): unknown {
  return field.default === undefined || field.default === null || (!field.pointer && node.isEmpty(field.default))
    ? undefined
    : field.default
}

function defaultField(field: FieldPlan, fallback: unknown, value: unknown, size: DecodedSize | undefined): unknown {
  const unset = value === undefined || value === null || (!field.field.pointer && field.node.isEmpty(value))
  if (fallback === undefined || !unset) return defaultNode(field.node, value, size)
  // A member that is printed unset was counted.
  size?.add(
    field.zero === undefined ? field.weight - field.node.frame + jsonWeight(fallback) : Math.max(0, jsonWeight(fallback) - 5),
  )
  return copyJson(fallback)
}

function defaultNode(plan: NodePlan, value: unknown, size: DecodedSize | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (plan.struct !== undefined) return isObject(value) ? defaultStruct(plan.struct(), value, size) : value
  const { of } = plan
  if (of === undefined || (of.struct === undefined && of.of === undefined)) return value
  if (Array.isArray(value)) {
    const list = value.map((element) => defaultNode(of, element, size))
    return list.some((element, index) => element !== value[index]) ? list : value
  }
  const map: Record<string, unknown> = {}
  let changed = false
  for (const [key, member] of Object.entries(value)) {
    const filled = defaultNode(of, member, size)
    changed ||= filled !== member
    setMember(map, key, filled)
  }
  return changed ? map : value
}

function withChanges(plan: StructPlan, object: Record<string, unknown>, changes: Map<number, unknown>): Record<string, unknown> {
  const slots = plan.fields.map((field) => (changes.has(field.index) ? changes.get(field.index) : memberOf(object, field)))
  if (!plan.open) return buildObject(plan, slots)
  const extra: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(object)) if (!plan.byName.has(key)) setMember(extra, key, value)
  return buildObject(plan, slots, extra)
}
