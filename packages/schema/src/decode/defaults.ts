import type { Work } from '@krmkit/base/work'
import { type JsonObject, setMember } from '@krmkit/meta'
import type { StructType, TypeNode } from '../interfaces.ts'
import { copyJson } from '../json/copy.direct.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { isParsedObject } from '../json/shape.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { planOf } from './plan.ts'
import { buildObject } from './struct.ts'

/** Static defaults of type facts. Defaults that depend on other fields belong to the strategy of the kind. */

/**
 * Fills in defaults of unset members (absent for pointers, otherwise the zero value), also in existing nested structs, list
 * elements and map values.
 *
 * @param object canonical; never modified.
 * @returns a canonical object that shares unchanged parts with `object` and nothing with other objects; `object` itself when no
 *   default applies.
 * @throws DecodeError `TooLarge`
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { applyDefaults, decode } from '@krmkit/schema'
 * const controller = builtInTypes().struct('core/v1.ReplicationController')
 * const { object } = decode(controller, { spec: { selector: { app: 'web' } } })
 * applyDefaults(controller, object).spec // { replicas: 1, selector: { app: 'web' } }
 */
export function* applyDefaults<T extends object>(type: StructType, object: T, options: DefaultsOptions = {}): Work<T> {
  if (type.custom !== undefined) return (yield* type.custom.paced.applyDefaults(object as JsonObject, options.size)) as T
  return defaultStruct(planOf(type), object as Record<string, unknown>, options.size) as T
}

export interface DefaultsOptions {
  /** Size counter of the decoding that built the object; defaults are added to it. Default: no limit. */
  readonly size?: DecodedSize | undefined
}

/** Whether `applyDefaults` can change objects of the type. */
export function hasDefaults(type: StructType): boolean {
  const known = hasDefaultsCache.get(type)
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
  hasDefaultsCache.set(type, found)
  return found
}

/** A cache: entries depend on the type only. */
const hasDefaultsCache = new WeakMap<StructType, boolean>()

/** The struct that a node holds, directly or through lists and maps. */
function structOf(node: TypeNode): StructType | undefined {
  if (node.kind === 'struct') return node.struct()
  return node.kind === 'list' || node.kind === 'map' ? structOf(node.of) : undefined
}

export function defaultStruct(
  plan: StructPlan,
  object: Record<string, unknown>,
  size: DecodedSize | undefined,
): Record<string, unknown> {
  const fields = defaultingFields(plan)
  // Allocated on the first change: many structs need no defaults.
  let slots: unknown[] | undefined
  for (let i = 0; i < fields.length; i++) {
    const { field, fallback } = fields[i] as DefaultingField
    const value = memberOf(object, field)
    const filled = defaultField(field, fallback, value, size)
    if (filled === value) continue
    slots ??= slotsOf(plan, object)
    slots[field.index] = filled
  }
  return slots === undefined ? object : buildObject(plan, slots, extraOf(plan, object), { empties: allEmpties })
}

/** A field that has a default or holds structs with defaults. */
interface DefaultingField {
  readonly field: FieldPlan
  readonly fallback: unknown
}

/** A cache: entries depend on the type only. */
const defaultingFieldsCache = new WeakMap<StructPlan, readonly DefaultingField[]>()

function defaultingFields(plan: StructPlan): readonly DefaultingField[] {
  const known = defaultingFieldsCache.get(plan)
  if (known !== undefined) return known
  const fields = plan.fields.flatMap((field): DefaultingField[] => {
    const fallback = effectiveDefault(field)
    const inner = structOf(field.field.type)
    return fallback !== undefined || (inner !== undefined && hasDefaults(inner)) ? [{ field, fallback }] : []
  })
  defaultingFieldsCache.set(plan, fields)
  return fields
}

function memberOf(object: Record<string, unknown>, field: FieldPlan): unknown {
  return Object.hasOwn(object, field.json) ? object[field.json] : undefined
}

/** A zero default of a non-pointer field changes nothing. */
function effectiveDefault({ field, node }: FieldPlan): unknown {
  return field.default === undefined || field.default === null || (!field.pointer && node.isEmpty(field.default))
    ? undefined
    : field.default
}

function defaultField(field: FieldPlan, fallback: unknown, value: unknown, size: DecodedSize | undefined): unknown {
  const unset = value === undefined || value === null || (!field.field.pointer && field.node.isEmpty(value))
  if (fallback === undefined || !unset) return defaultNode(field.node, value, size)
  // An unset member that is printed was already counted.
  size?.add(
    field.zero === undefined
      ? field.memberBytes - field.node.frameBytes + jsonWeight(fallback)
      : Math.max(0, jsonWeight(fallback) - 5),
  )
  return copyJson(fallback)
}

function defaultNode(plan: NodePlan, value: unknown, size: DecodedSize | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (plan.struct !== undefined) return isParsedObject(value) ? defaultStruct(plan.struct(), value, size) : value
  const { of } = plan
  if (of === undefined || (of.struct === undefined && of.of === undefined)) return value
  if (Array.isArray(value)) {
    let list: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const filled = defaultNode(of, value[i], size)
      if (filled === value[i]) continue
      list ??= [...value]
      list[i] = filled
    }
    return list ?? value
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

/** Keeps all empty values: decoding has already dropped the others. */
const allEmpties = { keepsEmpty: () => true }

/** The values of the fields, by index. */
function slotsOf({ fields, byName }: StructPlan, object: Record<string, unknown>): unknown[] {
  const slots: unknown[] = new Array(fields.length).fill(undefined)
  for (const key in object) {
    const field = byName.get(key)
    if (field !== undefined) slots[field.index] = object[key]
  }
  return slots
}

/** The members that are not fields. */
function extraOf({ open, byName }: StructPlan, object: Record<string, unknown>): Record<string, unknown> | undefined {
  if (!open) return undefined
  const extra: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(object)) if (!byName.has(key)) setMember(extra, key, value)
  return extra
}
