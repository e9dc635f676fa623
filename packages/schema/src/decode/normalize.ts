import type { JsonObject } from '@krmkit/meta'
import { setMember } from '@krmkit/meta'
import { memberNames, rememberMemberNames, type Work } from '@krmkit/meta/work'
import type { StructType } from '../interfaces.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { planOf } from './plan.ts'
import { inOrder, isParsedObject, sortedKeysSteps, withSortedKeys } from './shape.ts'
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
export function normalize<T extends object>(type: StructType, object: T): T {
  if (type.custom !== undefined) return type.custom.normalize(object as JsonObject) as T
  return normalizeStruct(planOf(type), object as Record<string, unknown>) as T
}

/** @param done members that are normalized already. */
function normalizeStruct(
  plan: StructPlan,
  object: Record<string, unknown>,
  done?: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
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
    const normal = done?.has(key) === true ? done.get(key) : normalizeField(field, value)
    if (normal === undefined || normal !== value || field.index < last) slots ??= slotsUntil(plan, object, key)
    else if (field.zero !== undefined) zeros++
    if (slots !== undefined) slots[field.index] = normal
    last = field.index
  }
  if (slots === undefined && zeros === plan.zeroCount) return object
  return buildObject(plan, slots ?? slotsUntil(plan, object, undefined), extra)
}

/** As {@link normalize}, for large objects: a generator that can be interrupted at each yield. */
export function* normalizeSteps<T extends object>(type: StructType, object: T): Work<T> {
  if (type.custom !== undefined) return (yield* type.custom.paced.normalize(object as JsonObject)) as T
  return (yield* structSteps(planOf(type), object as Record<string, unknown>)) as T
}

/** As `normalizeStruct`, with pauses inside the members. */
function* structSteps(plan: StructPlan, object: Record<string, unknown>): Work<Record<string, unknown>> {
  const done = new Map<string, unknown>()
  for (const { json, node, dropEmpty } of plan.fields) {
    const value = object[json]
    if (typeof value !== 'object' || value === null) continue
    const normal = yield* nodeSteps(node, value)
    done.set(json, dropEmpty && node.isEmpty(normal) ? undefined : normal)
  }
  return normalizeStruct(plan, object, done)
}

/** The members before `end`, all of them canonical, by field index. */
function slotsUntil(plan: StructPlan, object: Record<string, unknown>, end: string | undefined): unknown[] {
  const slots: unknown[] = new Array(plan.fields.length).fill(undefined)
  for (const key in object) {
    if (key === end) break
    slots[(plan.byName.get(key) as FieldPlan).index] = object[key]
  }
  return slots
}

function withMember(object: Record<string, unknown> | undefined, key: string, value: unknown): Record<string, unknown> {
  const target = object ?? {}
  setMember(target, key, value)
  return target
}

/** `undefined` for values that are not printed. */
function normalizeField(field: FieldPlan, value: unknown): unknown {
  if (value === undefined) return undefined
  if (value === null) {
    const { node } = field.node
    if (node.kind === 'special' && node.struct !== undefined) return null
    return field.zero !== undefined && field.field.zero === null ? null : undefined
  }
  if (field.dropEmpty && field.node.isEmpty(value)) return undefined
  return normalizeNode(field.node, value)
}

function normalizeNode(plan: NodePlan, value: unknown): unknown {
  if (value === null || value === undefined) return plan.zero()
  switch (plan.node.kind) {
    case 'scalar':
      return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
    case 'struct':
      return isParsedObject(value) ? normalizeStruct((plan.struct as () => StructPlan)(), value) : value
    case 'special':
      return plan.node.struct === undefined ? value : normalizeSchema(planOf(plan.node.struct()), value)
    case 'list':
      return Array.isArray(value) ? normalizeList(plan.of as NodePlan, value) : value
    case 'map':
      return isParsedObject(value) ? normalizeMap(plan.of as NodePlan, value) : value
  }
}

/** A `JSONSchemaPropsOr…` value: a schema, several ones, or something else. */
function normalizeSchema(schema: StructPlan, value: unknown): unknown {
  if (!Array.isArray(value)) return isParsedObject(value) ? normalizeStruct(schema, value) : value
  const normal = value.map((element) => (isParsedObject(element) ? normalizeStruct(schema, element) : element))
  return normal.some((element, index) => element !== value[index]) ? normal : value
}

/** As `normalizeNode`, with pauses. */
function* nodeSteps(plan: NodePlan, value: unknown): Work<unknown> {
  const { kind } = plan.node
  if (kind === 'struct' && isParsedObject(value)) return yield* structSteps((plan.struct as () => StructPlan)(), value)
  if (kind === 'special' && plan.node.struct !== undefined && isParsedObject(value))
    return yield* structSteps(planOf(plan.node.struct()), value)
  if (kind === 'list' && Array.isArray(value)) return yield* listSteps(plan.of as NodePlan, value)
  if (kind === 'map' && isParsedObject(value)) return yield* mapSteps(plan.of as NodePlan, value)
  return normalizeNode(plan, value)
}

function normalizeList(element: NodePlan, list: unknown[]): unknown[] {
  let changed: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const normal = normalizeNode(element, list[i])
    if (changed !== undefined) changed.push(normal)
    else if (normal !== list[i]) changed = [...list.slice(0, i), normal]
  }
  return changed ?? list
}

function* listSteps(element: NodePlan, list: unknown[]): Work<unknown[]> {
  let changed: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const normal = yield* nodeSteps(element, list[i])
    if (changed !== undefined) changed.push(normal)
    else if (normal !== list[i]) changed = [...list.slice(0, i), normal]
    if (i % elementsPerStep === 0) yield
  }
  return changed ?? list
}

/** Elements processed between two yields. */
const elementsPerStep = 64

function normalizeMap(element: NodePlan, map: Record<string, unknown>): Record<string, unknown> {
  let previous: string | undefined
  for (const key in map) {
    const value = map[key]
    if (value === undefined || (previous !== undefined && !inOrder(previous, key))) return reorderedMap(element, map)
    // A struct is normalized only once, by `reorderedMap`.
    if (typeof value === 'object' || normalizeNode(element, value) !== value) return reorderedMap(element, map)
    previous = key
  }
  return map
}

function reorderedMap(element: NodePlan, map: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  let canonical = true
  let sorted = true
  let previous: string | undefined
  for (const key in map) {
    const value = map[key]
    if (value === undefined) {
      canonical = false
      continue
    }
    const normal = normalizeNode(element, value)
    setMember(copy, key, normal)
    canonical &&= normal === value
    sorted &&= previous === undefined || inOrder(previous, key)
    previous = key
  }
  if (canonical && sorted) return map
  const ordered = sorted ? copy : withSortedKeys(copy)
  return canonical && sameOrder(map, ordered) ? map : ordered
}

function* mapSteps(element: NodePlan, map: Record<string, unknown>): Work<Record<string, unknown>> {
  const keys = memberNames(map)
  if (keys.length > elementsPerStep) yield true
  const copy: Record<string, unknown> = {}
  const kept: string[] = []
  let canonical = true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = map[key]
    const normal = value === undefined ? undefined : yield* nodeSteps(element, value)
    if (normal !== undefined) {
      setMember(copy, key, normal)
      kept.push(key)
    }
    canonical &&= value !== undefined && normal === value
    if (i % elementsPerStep === 0) yield
  }
  const ordered = yield* sortedKeysSteps(copy, kept, true)
  if (!canonical || !(ordered === copy || (yield* sameOrderSteps(keys, ordered)))) return ordered
  rememberMemberNames(map, kept)
  return map
}

/** As `sameOrder`, with pauses. */
function* sameOrderSteps(keys: readonly string[], b: Record<string, unknown>): Work<boolean> {
  const other = memberNames(b)
  if (other.length > elementsPerStep) yield true
  return keys.every((key, index) => key === other[index])
}

/** Keys that `inOrder` cannot decide may still be sorted. */
function sameOrder(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const other = Object.keys(b)
  return Object.keys(a).every((key, index) => key === other[index])
}
