// Derived from empties.ts by `npm run direct`: do not edit.
import type { StructType } from '../interfaces.ts'
import { isParsedObject } from '../json/shape.ts'
import { type Members, structOf } from './empties.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { normalize } from './normalize.direct.ts'
import { planOf } from './plan.ts'

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
export function dropEmpties<T extends object>(type: StructType, object: T, paths: readonly (readonly string[])[]): T {
  if (type.custom !== undefined) return object
  const plan = planOf(type)
  for (const path of paths) if (structHasEmpty(plan, object as Members, path, 0)) return normalize(type, object)
  return object
}

/** @param depth index of the next name of `path` to follow; past the end, every member is checked. */
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
  if (Array.isArray(value)) {
    for (const element of value) {
      if (elementHasEmpty(of, element, path, depth)) return true
    }
    return false
  }

  for (const key in value) {
    if (elementHasEmpty(of, (value as Members)[key], path, depth)) return true
  }
  return false
}
