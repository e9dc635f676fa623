import { memberNames, type Work } from '@krmkit/base/work'
import type { StructType } from '../interfaces.ts'
import { isParsedObject } from '../json/shape.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { normalize } from './normalize.ts'
import { planOf } from './plan.ts'

/** Removes empty values that decoding has kept for the validation rules of a kind. */

/**
 * Drops the empty lists and maps that decoding kept for `keepEmpties`. This restores the canonical form, in which objects
 * are stored and returned and field ownership is computed. Only the members at `paths` are searched.
 *
 * @returns `object` itself when nothing is dropped.
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
export function* dropEmpties<T extends object>(type: StructType, object: T, paths: readonly (readonly string[])[]): Work<T> {
  if (type.custom !== undefined) return object
  const plan = planOf(type)
  for (const path of paths) if (yield* structHasEmpty(plan, object as Members, path, 0)) return yield* normalize(type, object)
  return object
}

export type Members = Readonly<Record<string, unknown>>

/** @param depth index of the next name of `path` to follow; past the end, every member is checked. */
function* structHasEmpty(plan: StructPlan, object: Members, path: readonly string[], depth: number): Work<boolean> {
  const name = path[depth]
  if (name !== undefined) return yield* memberHasEmpty(plan.byName.get(name), object[name], path, depth + 1)
  for (const key in object) {
    const value = object[key]
    if (typeof value === 'object' && (yield* memberHasEmpty(plan.byName.get(key), value, path, depth))) return true
  }
  return false
}

function* memberHasEmpty(field: FieldPlan | undefined, value: unknown, path: readonly string[], depth: number): Work<boolean> {
  if (field === undefined || typeof value !== 'object' || value === null) return false
  if (depth >= path.length && field.dropEmpty && field.distinctEmpty && field.node.isEmpty(value)) return true
  return yield* elementHasEmpty(field.node, value, path, depth)
}

function* elementHasEmpty(plan: NodePlan, value: unknown, path: readonly string[], depth: number): Work<boolean> {
  const struct = structOf(plan)
  if (struct !== undefined && isParsedObject(value)) return yield* structHasEmpty(struct, value, path, depth)
  const { of } = plan
  if (of === undefined || of.node.kind === 'scalar' || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    for (const element of value) {
      if (yield* elementHasEmpty(of, element, path, depth)) return true
      yield
    }
    return false
  }
  yield true
  for (const key of memberNames(value)) {
    if (yield* elementHasEmpty(of, (value as Members)[key], path, depth)) return true
    yield
  }
  return false
}

export function structOf({ struct, node }: NodePlan): StructPlan | undefined {
  return struct?.() ?? (node.kind === 'special' && node.struct ? planOf(node.struct()) : undefined)
}
