import { runAtOnce } from '@krmkit/meta/slices'
import type { StructType } from '../interfaces.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { normalizeSteps } from './normalize.ts'
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
  return runAtOnce(dropEmptiesSteps(type, object, paths))
}

/** As `dropEmpties`, with interruption points for large objects. @see {@link dropEmpties} */
export function* dropEmptiesSteps<T extends object>(
  type: StructType,
  object: T,
  paths: readonly (readonly string[])[],
): Generator<unknown, T> {
  if (type.custom !== undefined) return object
  const plan = planOf(type)
  for (const path of paths) if (yield* holdsEmpty(plan, object as Members, path)) return yield* normalizeSteps(type, object)
  return object
}

type Members = Readonly<Record<string, unknown>>

/** @param path the rest of the path; empty: every member counts. */
function* holdsEmpty(plan: StructPlan, object: Members, path: readonly string[]): Generator<unknown, boolean> {
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

function* isOrHoldsEmpty(field: FieldPlan, value: unknown, path: readonly string[]): Generator<unknown, boolean> {
  if (value === undefined || value === null) return false
  if (path.length === 0 && field.dropEmpty && field.distinctEmpty && field.node.isEmpty(value)) return true
  return yield* elementsHoldEmpty(field.node, value, path)
}

function* elementsHoldEmpty(plan: NodePlan, value: unknown, path: readonly string[]): Generator<unknown, boolean> {
  const struct = plan.struct?.() ?? (plan.node.kind === 'special' && plan.node.struct ? planOf(plan.node.struct()) : undefined)
  if (struct !== undefined && isParsedObject(value)) return yield* holdsEmpty(struct, value, path)
  const { of } = plan
  if (of === undefined || of.node.kind === 'scalar' || typeof value !== 'object' || value === null) return false
  for (const element of Object.values(value)) {
    if (yield* elementsHoldEmpty(of, element, path)) return true
    yield
  }
  return false
}
