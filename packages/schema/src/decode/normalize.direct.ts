// Derived from normalize.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { type JsonObject, setMember } from '@krmkit/meta'
import type { StructType } from '../interfaces.ts'
import { copyInOrder, sortKeys } from '../json/shape.direct.ts'
import { inOrder, isParsedObject } from '../json/shape.ts'
import type { NodePlan, StructPlan } from './field-plan.ts'
import { normalElement, normalScalar, slotsUntil, withMember } from './normalize.ts'
import { planOf } from './plan.ts'
import { buildObject } from './struct.ts'

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

function normalizeStruct(plan: StructPlan, object: Record<string, unknown>): Record<string, unknown> {
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
    else if (!field.dropEmpty || !node.isEmpty(value)) normal = normalizeNode(node, value)
    if (normal === undefined || normal !== value || field.index < last) slots ??= slotsUntil(plan, object, key)
    else if (field.zero !== undefined) zeros++
    if (slots !== undefined) slots[field.index] = normal
    last = field.index
  }
  if (slots === undefined && zeros === plan.zeroCount) return object
  return buildObject(plan, slots ?? slotsUntil(plan, object, undefined), extra)
}

function normalizeNode(plan: NodePlan, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return normalElement(plan, value)
  switch (plan.node.kind) {
    case 'scalar':
      return value
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

/** Normalizes a `JSONSchemaPropsOr…` value: a schema, a list of schemas, or another value. */
function normalizeSchema(schema: StructPlan, value: unknown): unknown {
  if (!Array.isArray(value)) return isParsedObject(value) ? normalizeStruct(schema, value) : value
  let changed: unknown[] | undefined
  for (let i = 0; i < value.length; i++) {
    const element: unknown = value[i]
    if (!isParsedObject(element)) continue
    const normal = normalizeStruct(schema, element)
    if (normal === element) continue
    changed ??= [...value]
    changed[i] = normal
  }
  return changed ?? value
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

function normalizeMap(element: NodePlan, map: Record<string, unknown>): Record<string, unknown> {
  let previous: string | undefined

  for (const key in map) {
    const value = map[key]
    const isCanonical = value !== undefined && (previous === undefined || inOrder(previous, key))
    // A struct is normalized only once, by `reorderedMap`.
    if (!isCanonical || typeof value === 'object' || normalElement(element, value) !== value)
      return reorderedMap(element, map, memberNames(map))
    previous = key
  }

  return map
}

/** @param keys all keys of the map */
function reorderedMap(element: NodePlan, map: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  const kept: string[] = []
  let isCanonical = true
  let isSorted = true
  let previous: string | undefined

  for (const key of keys) {
    const value = map[key]
    if (value === undefined) {
      isCanonical = false
      continue
    }
    const normal = normalizeNode(element, value)
    setMember(copy, key, normal)
    kept.push(key)
    isCanonical &&= normal === value
    isSorted &&= previous === undefined || inOrder(previous, key)
    previous = key
  }
  if (isCanonical && isSorted) {
    return map
  }
  if (isSorted) {
    return copy
  }
  const names = sortKeys(kept)
  const ordered = copyInOrder(copy, names)

  return isCanonical && hasOrder(ordered, keys) ? map : ordered
}

/** Whether the keys are sorted, for keys that `inOrder` cannot decide. */
function hasOrder(object: Record<string, unknown>, keys: readonly string[]): boolean {
  const names = memberNames(object)

  return keys.every((key, index) => key === names[index])
}
