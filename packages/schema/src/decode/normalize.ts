import { memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import { type JsonObject, setMember } from '@krmkit/meta'
import type { StructType } from '../interfaces.ts'
import { copyInOrder, inOrder, isParsedObject, sortKeys } from '../json/shape.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { planOf } from './plan.ts'
import { buildObject } from './struct.ts'

/** Restores the canonical form of objects that code has modified. */

/**
 * The canonical form of an object: members and keys in order, empty and unknown members dropped, zero values filled in. Values must
 * be well-formed; use `decode` for external input.
 *
 * Canonical parts are not copied, and a canonical object is returned unchanged. The argument is never modified.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { decode, normalize } from '@krmkit/schema'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const { object } = decode(configMap, { metadata: { name: 'web' } })
 * normalize(configMap, { ...object, data: { b: '2', a: '1' } }).data // { a: '1', b: '2' }
 */
export function* normalize<T extends object>(type: StructType, object: T): Work<T> {
  if (type.custom !== undefined) return (yield* type.custom.paced.normalize(object as JsonObject)) as T
  return (yield* normalizeStruct(planOf(type), object as Record<string, unknown>)) as T
}

function* normalizeStruct(plan: StructPlan, object: Record<string, unknown>): Work<Record<string, unknown>> {
  // Allocated on the first change: most objects are canonical.
  let slots: unknown[] | undefined
  let extra: Record<string, unknown> | undefined
  let last = -1
  let zeros = 0
  for (const key in object) {
    const value = object[key]
    const field = plan.byName.get(key)
    if (field === undefined) {
      slots ??= slotsUntil(plan, object, key)
      if (plan.open && value !== undefined) extra = withMember(extra, key, value)
      continue
    }
    const { node } = field
    let normal: unknown
    if (typeof value !== 'object' || value === null) normal = normalScalar(field, value)
    else if (!field.dropEmpty || !node.isEmpty(value)) normal = yield* normalizeNode(node, value)
    if (normal === undefined || normal !== value || field.index < last) slots ??= slotsUntil(plan, object, key)
    else if (field.zero !== undefined) zeros++
    if (slots !== undefined) slots[field.index] = normal
    last = field.index
  }
  if (slots === undefined && zeros === plan.zeroCount) return object
  return buildObject(plan, slots ?? slotsUntil(plan, object, undefined), extra)
}

/** Returns the members before `end`, which are canonical, by field index. */
export function slotsUntil(plan: StructPlan, object: Record<string, unknown>, end: string | undefined): unknown[] {
  const slots: unknown[] = new Array(plan.fields.length).fill(undefined)
  for (const key in object) {
    if (key === end) break
    slots[(plan.byName.get(key) as FieldPlan).index] = object[key]
  }
  return slots
}

export function withMember(object: Record<string, unknown> | undefined, key: string, value: unknown): Record<string, unknown> {
  const target = object ?? {}
  setMember(target, key, value)
  return target
}

/** Normalizes a scalar member; `undefined` if it is not printed. */
export function normalScalar(field: FieldPlan, value: unknown): unknown {
  if (value === undefined) return undefined
  const { node } = field.node
  if (value === null) {
    if (node.kind === 'special' && node.struct !== undefined) return null
    return field.zero !== undefined && field.field.zero === null ? null : undefined
  }
  if (field.dropEmpty && field.node.isEmpty(value)) return undefined
  return normalElement(field.node, value)
}

/** Normalizes a scalar value. */
export function normalElement(plan: NodePlan, value: unknown): unknown {
  if (value === null || value === undefined) return plan.zero()
  return typeof value === 'bigint' && plan.node.kind === 'scalar' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function* normalizeNode(plan: NodePlan, value: unknown): Work<unknown> {
  if (typeof value !== 'object' || value === null) return normalElement(plan, value)
  switch (plan.node.kind) {
    case 'scalar':
      return value
    case 'struct':
      return isParsedObject(value) ? yield* normalizeStruct((plan.struct as () => StructPlan)(), value) : value
    case 'special':
      return plan.node.struct === undefined ? value : yield* normalizeSchema(planOf(plan.node.struct()), value)
    case 'list':
      return Array.isArray(value) ? yield* normalizeList(plan.of as NodePlan, value) : value
    case 'map':
      return isParsedObject(value) ? yield* normalizeMap(plan.of as NodePlan, value) : value
  }
}

/** Normalizes a `JSONSchemaPropsOr…` value: a schema, a list of schemas, or another value. */
function* normalizeSchema(schema: StructPlan, value: unknown): Work<unknown> {
  if (!Array.isArray(value)) return isParsedObject(value) ? yield* normalizeStruct(schema, value) : value
  let changed: unknown[] | undefined
  for (let i = 0; i < value.length; i++) {
    const element: unknown = value[i]
    if (!isParsedObject(element)) continue
    const normal = yield* normalizeStruct(schema, element)
    if (normal === element) continue
    changed ??= [...value]
    changed[i] = normal
  }
  return changed ?? value
}

function* normalizeList(element: NodePlan, list: unknown[]): Work<unknown[]> {
  let changed: unknown[] | undefined
  let count = 0
  for (let i = 0; i < list.length; i++) {
    const normal = yield* normalizeNode(element, list[i])
    if (changed !== undefined) changed.push(normal)
    else if (normal !== list[i]) changed = [...list.slice(0, i), normal]
    if (count++ % elementsPerStep === 0) yield
  }
  return changed ?? list
}

/** Elements processed between two yields. */
const elementsPerStep = 64

function* normalizeMap(element: NodePlan, map: Record<string, unknown>): Work<Record<string, unknown>> {
  let previous: string | undefined
  let count = 0
  const keys = memberNames(map)
  if (keys.length > elementsPerStep) yield true
  for (const key of keys) {
    const value = map[key]
    const isCanonical = value !== undefined && (previous === undefined || inOrder(previous, key))
    // A struct is normalized only once, by `reorderedMap`.
    if (!isCanonical || typeof value === 'object' || normalElement(element, value) !== value)
      return yield* reorderedMap(element, map, keys)
    previous = key
    if (count++ % elementsPerStep === 0) yield
  }
  rememberMemberNames(map, keys)
  return map
}

/** @param keys all keys of the map */
function* reorderedMap(element: NodePlan, map: Record<string, unknown>, keys: readonly string[]): Work<Record<string, unknown>> {
  const copy: Record<string, unknown> = {}
  const kept: string[] = []
  let isCanonical = true
  let isSorted = true
  let previous: string | undefined
  let count = 0
  for (const key of keys) {
    const value = map[key]
    if (value === undefined) {
      isCanonical = false
      continue
    }
    const normal = yield* normalizeNode(element, value)
    setMember(copy, key, normal)
    kept.push(key)
    isCanonical &&= normal === value
    isSorted &&= previous === undefined || inOrder(previous, key)
    previous = key
    if (count++ % elementsPerStep === 0) yield
  }
  if (isCanonical && isSorted) {
    rememberMemberNames(map, keys)
    return map
  }
  if (isSorted) {
    rememberMemberNames(copy, kept)
    return copy
  }
  const names = yield* sortKeys(kept)
  const ordered = yield* copyInOrder(copy, names)
  rememberMemberNames(ordered, names)
  return isCanonical && (yield* hasOrder(ordered, keys)) ? map : ordered
}

/** Whether the keys are sorted, for keys that `inOrder` cannot decide. */
function* hasOrder(object: Record<string, unknown>, keys: readonly string[]): Work<boolean> {
  const names = memberNames(object)
  if (names.length > elementsPerStep) yield true
  return keys.every((key, index) => key === names[index])
}
