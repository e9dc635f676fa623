import { conversionNames } from '../functions/conversions.ts'
import { entryOf, itemAt, shownKey } from '../functions/operators.ts'
import type { Expr } from '../syntax/ast.ts'
import { numeric } from '../values/equality.ts'
import { Patterns } from '../values/patterns.ts'
import {
  Double,
  ErrorValue,
  goTypeOf,
  ListValue,
  MapValue,
  Optional,
  optionalNone,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts'
import { type Constant, constantOf, constantStep, Frame, PlanError, type Run, type Step } from './step.ts'

/** Member and index access, including optionals. */

/** Error for member access on a list. */
const noName = new ErrorValue("unsupported index type 'string' in list")

/** Returns a member; `undefined` for values without members, such as null. */
function memberIn(value: Value, field: string): Value | undefined {
  if (value instanceof MapValue) return value.field(field)
  if (value instanceof ErrorValue) return value
  return value instanceof ListValue ? noName : undefined
}

/** `target.field`, and `has(target.field)`, which adds no cost. */
export function selectMember(target: Step, field: string, test: boolean): Step {
  const missing = new ErrorValue(`no such key: ${field}`)
  if (test) {
    return (frame) => {
      const value = target(frame)
      if (value instanceof ErrorValue) return value
      const holder = value instanceof Optional ? value.value : value
      // Values without members, such as null, do not have the field.
      if (!(holder instanceof MapValue)) return holder instanceof ListValue ? noName : false
      const found = holder.field(field)
      return found instanceof ErrorValue ? found : found !== undefined
    }
  }
  return (frame) => {
    const value = target(frame)
    if (value instanceof MapValue) {
      if (++frame.cost > frame.limit) frame.charge(0)
      const found = value.field(field)
      return found === undefined ? missing : found
    }
    if (value instanceof ErrorValue) return value
    if (value instanceof Optional)
      return value.value === undefined ? optionalNone : ifPresent(frame, memberIn(value.value, field))
    frame.charge(1)
    return value instanceof ListValue ? noName : missing
  }
}

/** Charges an optional access only if the member or item is present. */
function ifPresent(frame: Frame, found: Value | undefined): Value {
  if (found === undefined || found === optionalNone) return optionalNone
  if (found instanceof ErrorValue) return found
  frame.charge(1)
  return new Optional(found)
}

/** `target.?field` */
export function optionalMember(target: Step, name: Expr): Step {
  const field = name.kind === 'literal' && typeof name.value === 'string' ? name.value : ''
  return (frame) => {
    const value = target(frame)
    if (value instanceof ErrorValue) return value
    if (value instanceof Optional && value.value === undefined) return optionalNone
    return ifPresent(frame, memberIn(value instanceof Optional ? (value.value as Value) : value, field))
  }
}

function itemIn(value: Value, index: Value): Value {
  const problem = keyProblem(index)
  if (problem !== undefined) return new ErrorValue(problem)
  if (value instanceof MapValue) return entryOf(value, index)
  if (value instanceof ListValue) {
    if (numeric(index) === undefined) return new ErrorValue(`unsupported index type '${typeNameOf(index)}' in list`)
    return itemAt(value, index)
  }
  return new ErrorValue(`no such key: ${shownKey(index)}`)
}

/** Returns why a value is not a valid index or key. */
function keyProblem(key: Value): string | undefined {
  const isScalar = typeof key !== 'object' || key instanceof Uint || key instanceof Double
  return isScalar ? undefined : `invalid qualifier type: ${goTypeOf(key)}`
}

/** Returns the item; `undefined` when it is absent. */
function itemIfPresent(value: Value, index: Value): Value | undefined {
  const problem = keyProblem(index)
  if (problem !== undefined) return new ErrorValue(problem)
  if (value instanceof MapValue) return value.get(index)
  if (!(value instanceof ListValue)) return undefined
  const at = numeric(index)
  if (at === undefined) return new ErrorValue(`unsupported index type '${typeNameOf(index)}' in list`)
  const isOutside = at < 0 || at >= value.size
  return isOutside && Number.isInteger(Number(at)) ? undefined : itemAt(value, index)
}

/** @throws PlanError when the index is a constant that is not a valid key. */
function checkIndex(index: Constant): void {
  const key = constantOf(index)
  const problem = key === undefined ? undefined : keyProblem(key)
  if (problem !== undefined) throw new PlanError(problem)
}

/** `target[index]` */
export function selectIndex(target: Step, index: Constant): Step {
  checkIndex(index)
  return (frame) => {
    const value = target(frame)
    if (value instanceof ErrorValue) return value
    if (value instanceof Optional) return optionalItem(frame, value, index)
    const at = index(frame)
    if (++frame.cost > frame.limit) frame.charge(0)
    return at instanceof ErrorValue ? at : itemIn(value, at)
  }
}

/** `target[?index]` */
export function optionalIndex(target: Step, index: Constant): Step {
  checkIndex(index)
  return (frame) => {
    const value = target(frame)
    return value instanceof ErrorValue ? value : optionalItem(frame, value, index)
  }
}

/** Returns the item as an optional; empty for an empty target. */
function optionalItem(frame: Frame, target: Value, index: Step): Value {
  if (target instanceof Optional && target.value === undefined) return optionalNone
  const at = index(frame)
  if (at instanceof ErrorValue) {
    frame.charge(1)
    return at
  }
  return ifPresent(frame, itemIfPresent(target instanceof Optional ? (target.value as Value) : target, at))
}

const access = /^_(?:\[\??_\]|\?\._)$/

/** Returns the operand of a member or index access; `undefined` for other expressions. */
function accessed(expr: Expr): Expr | undefined {
  if (expr.kind === 'select' && expr.resolved === undefined && !expr.test) return expr.operand
  return expr.kind === 'call' && access.test(expr.name) ? expr.args[0] : undefined
}

function isName(expr: Expr): boolean {
  if (expr.kind === 'select') return expr.resolved !== undefined && expr.resolved.constant === undefined
  return expr.kind === 'ident' && expr.constant === undefined
}

function isCondition(expr: Expr): boolean {
  return expr.kind === 'call' && expr.name === '_?_:_'
}

/**
 * Charges the base of a member or index access. As in kube-apiserver, a variable costs 1, and so does a computed value whose
 * members or items are accessed.
 *
 * @param step of `expr`
 */
export function accessBase(expr: Expr, step: Step): Step {
  if (isName(expr) || isCondition(expr) || accessed(expr) !== undefined) return step
  return (frame) => {
    const value = step(frame)
    frame.charge(1)
    return value
  }
}

/** Removes the cost of the base: as in kube-apiserver, it is not charged for an index or in the branches of a condition. */
export function withoutBaseCost(expr: Expr, step: Constant): Constant {
  let base = expr
  for (let next = accessed(expr); next !== undefined; next = accessed(next)) base = next
  if (base === expr ? !isName(expr) : isCondition(base)) return step
  return (frame) => {
    const value = step(frame)
    frame.cost--
    return value
  }
}

/** Evaluates conversions of constants during planning. */
export function foldConstantCall(name: string, run: Run, steps: readonly Constant[]): Constant | undefined {
  const [step] = steps
  if (step === undefined || steps.length !== 1 || !conversionNames.has(name)) return undefined
  const value = constantOf(step)
  if (value === undefined) return undefined
  const frame = new Frame([], { limit: Number.POSITIVE_INFINITY, patterns: new Patterns() })
  const result = run(frame, value)
  if (result instanceof ErrorValue) throw new PlanError(result.message)
  return constantStep(result)
}
