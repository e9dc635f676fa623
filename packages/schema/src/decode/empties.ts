import { memberNames, type Work } from '@krmkit/meta/work'
import type { StructType } from '../interfaces.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { normalize, normalizeSteps } from './normalize.ts'
import { planOf } from './plan.ts'
import { isParsedObject } from './shape.ts'

/** Empty values that decoding has kept for the rules of a kind. */

/**
 * Drops the empty lists and maps that decoding kept for `keepEmpties`: the canonical form, in which objects are owned, shown and
 * stored. Only the members at `paths` are searched.
 *
 * @returns `object` itself where there are none.
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { decode, dropEmpties } from '@krmkit/schema/decode'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const keepEmpties = [['data']]
 * const { object } = decode(configMap, { data: {}, binaryData: {} }, { keepEmpties })
 * object.data // {}
 * object.binaryData // undefined
 * dropEmpties(configMap, object, keepEmpties).data // undefined
 */
export function dropEmpties<T extends object>(type: StructType, object: T, paths: readonly (readonly string[])[]): T {
  if (type.custom !== undefined) return object
  const plan = planOf(type)
  for (const path of paths) if (structHasEmpty(plan, object as Members, path, 0)) return normalize(type, object)
  return object
}

/** As `dropEmpties`, with pauses for large objects. @see {@link dropEmpties} */
export function* dropEmptiesSteps<T extends object>(type: StructType, object: T, paths: readonly (readonly string[])[]): Work<T> {
  if (type.custom !== undefined) return object
  const plan = planOf(type)
  for (const path of paths) if (yield* holdsEmpty(plan, object as Members, path)) return yield* normalizeSteps(type, object)
  return object
}

type Members = Readonly<Record<string, unknown>>

/**
 * As `holdsEmpty`, at once: a generator for every member would cost small objects more than the search.
 *
 * @param depth number of the first name of `path` that is not followed yet; past the end, every member counts.
 */
function structHasEmpty(plan: StructPlan, object: Members, path: readonly string[], depth: number): boolean {
  const name = path[depth]
  if (name !== undefined) return memberHasEmpty(plan.byName.get(name), object[name], path, depth + 1)
  for (const key in object) {
    const value = object[key]
    if (typeof value === 'object' && memberHasEmpty(plan.byName.get(key), value, path, depth)) return true
  }
  return false
}

function memberHasEmpty(field: FieldPlan | undefined, value: unknown, path: readonly string[], depth: number): boolean {
  if (field === undefined || typeof value !== 'object' || value === null) return false
  if (depth >= path.length && field.dropEmpty && field.distinctEmpty && field.node.isEmpty(value)) return true
  return elementHasEmpty(field.node, value, path, depth)
}

function elementHasEmpty(plan: NodePlan, value: unknown, path: readonly string[], depth: number): boolean {
  const struct = structOf(plan)
  if (struct !== undefined && isParsedObject(value)) return structHasEmpty(struct, value, path, depth)
  const { of } = plan
  if (of === undefined || of.node.kind === 'scalar' || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((element: unknown) => elementHasEmpty(of, element, path, depth))
  for (const key in value) if (elementHasEmpty(of, (value as Members)[key], path, depth)) return true
  return false
}

function structOf({ struct, node }: NodePlan): StructPlan | undefined {
  return struct?.() ?? (node.kind === 'special' && node.struct ? planOf(node.struct()) : undefined)
}

/** @param path the rest of the path; empty: every member counts. */
function* holdsEmpty(plan: StructPlan, object: Members, path: readonly string[]): Work<boolean> {
  const [name] = path
  if (name !== undefined) {
    const field = plan.byName.get(name)
    return field !== undefined && (yield* isOrHoldsEmpty(field, object[name], path.slice(1)))
  }
  for (const key in object) {
    const field = plan.byName.get(key)
    if (field !== undefined && (yield* isOrHoldsEmpty(field, object[key], path))) return true
  }
  return false
}

function* isOrHoldsEmpty(field: FieldPlan, value: unknown, path: readonly string[]): Work<boolean> {
  if (value === undefined || value === null) return false
  if (path.length === 0 && field.dropEmpty && field.distinctEmpty && field.node.isEmpty(value)) return true
  return yield* elementsHoldEmpty(field.node, value, path)
}

function* elementsHoldEmpty(plan: NodePlan, value: unknown, path: readonly string[]): Work<boolean> {
  const struct = structOf(plan)
  if (struct !== undefined && isParsedObject(value)) return yield* holdsEmpty(struct, value, path)
  const { of } = plan
  if (of === undefined || of.node.kind === 'scalar' || typeof value !== 'object' || value === null) return false
  if (!Array.isArray(value)) yield true
  // The values of a large map are not listed: its names are known, or listed in this step.
  const names = Array.isArray(value) ? undefined : memberNames(value)
  const count = names?.length ?? (value as unknown[]).length
  for (let i = 0; i < count; i++) {
    const element: unknown = names === undefined ? (value as unknown[])[i] : (value as Members)[names[i] as string]
    if (yield* elementsHoldEmpty(of, element, path)) return true
    yield
  }
  return false
}
