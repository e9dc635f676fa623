import type { Expr } from './ast.ts'
import type { Overload } from './declarations.ts'
import { numeric } from './equality.ts'
import { conversionNames } from './functions/conversions.ts'
import { entryOf, itemAt, shownKey } from './functions/operators.ts'
import { Patterns } from './patterns.ts'
import { type Constant, constantOf, constantStep, Frame, PlanError, type Run, type Step } from './step.ts'
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
} from './values.ts'

/** Member and index access, including optionals. */

/** Members of a list are selected by their index. */
const noName = new ErrorValue("unsupported index type 'string' in list")

/** Values without members, such as null, do not have the field. */
function memberIn(value: Value, field: string): Value | undefined {
  if (value instanceof MapValue) return value.field(field)
  if (value instanceof ErrorValue) return value
  return value instanceof ListValue ? noName : undefined
}

/** `target.field`, and `has(target.field)`, which has no additional cost. */
export function selectMember(target: Step, field: string, test: boolean): Step {
  const missing = new ErrorValue(`no such key: ${field}`)
  if (test) {
    return (frame) => {
      const value = target(frame)
      if (value instanceof ErrorValue) return value
      const holder = value instanceof Optional ? value.value : value
      // Values without members, such as null, do not have the field.
      if (!(holder instanceof MapValue)) return holder instanceof ListValue ? noName : false
      return holder.field(field) !== undefined
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
    frame.charge(1)
    if (value instanceof Optional) return value.value === undefined ? optionalNone : asOptional(memberIn(value.value, field))
    return value instanceof ListValue ? noName : missing
  }
}

function asOptional(found: Value | undefined): Value {
  if (found === undefined) return optionalNone
  return found instanceof ErrorValue ? found : new Optional(found)
}

/** `target.?field` */
export function optionalMember(target: Step, name: Expr): Step {
  const field = name.kind === 'literal' && typeof name.value === 'string' ? name.value : ''
  return (frame) => {
    const value = target(frame)
    if (value instanceof ErrorValue) return value
    frame.charge(1)
    if (value instanceof Optional) return value.value === undefined ? optionalNone : asOptional(memberIn(value.value, field))
    return asOptional(memberIn(value, field))
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

/** Why a value can be no index or key. */
function keyProblem(key: Value): string | undefined {
  const isScalar = typeof key !== 'object' || key instanceof Uint || key instanceof Double
  return isScalar ? undefined : `invalid qualifier type: ${goTypeOf(key)}`
}

/** The item as an optional. */
function optionalItem(value: Value, index: Value): Value {
  const problem = keyProblem(index)
  if (problem !== undefined) return new ErrorValue(problem)
  if (value instanceof MapValue) return asOptional(value.get(index))
  if (!(value instanceof ListValue)) return optionalNone
  const at = numeric(index)
  if (at === undefined) return new ErrorValue(`unsupported index type '${typeNameOf(index)}' in list`)
  const isOutside = at < 0 || at >= value.size
  return isOutside && Number.isInteger(Number(at)) ? optionalNone : asOptional(itemAt(value, index))
}

/** @throws PlanError when the index is a constant that can be no key. */
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
    const at = index(frame)
    if (at instanceof ErrorValue) return at
    if (++frame.cost > frame.limit) frame.charge(0)
    if (value instanceof Optional) return value.value === undefined ? optionalNone : optionalItem(value.value, at)
    return itemIn(value, at)
  }
}

/** `target[?index]` */
export function optionalIndex(target: Step, index: Constant): Step {
  checkIndex(index)
  return (frame) => {
    const value = target(frame)
    if (value instanceof ErrorValue) return value
    const at = index(frame)
    if (at instanceof ErrorValue) return at
    frame.charge(1)
    if (value instanceof Optional) return value.value === undefined ? optionalNone : optionalItem(value.value, at)
    return optionalItem(value, at)
  }
}

/** Whether the expression is a name with member and index access. */
function isAttribute(expr: Expr): boolean {
  if (expr.kind === 'ident') return expr.constant === undefined
  if (expr.kind === 'select') return expr.resolved !== undefined || (!expr.test && isAttribute(expr.operand))
  if (expr.kind !== 'call' || !/^_(?:\[\??_\]|\?\._)$/.test(expr.name)) return false
  const [target, index] = expr.args as [Expr, Expr]
  return isAttribute(target) && (index.kind === 'literal' || isAttribute(index))
}

/** As on the stock server, attributes are free as an index and in the branches of a condition. */
export function withoutCost(expr: Expr, step: Constant): Constant {
  if (!isAttribute(expr)) return step
  return (frame) => {
    const { cost } = frame
    const value = step(frame)
    frame.cost = cost
    return value
  }
}

/** Evaluates conversions of constants during planning. */
export function foldConstantCall(name: string, overloads: readonly Overload[], steps: readonly Constant[]): Constant | undefined {
  const [step] = steps
  const [only] = overloads
  if (step === undefined || steps.length !== 1 || overloads.length !== 1 || !conversionNames.has(name)) return undefined
  const value = constantOf(step)
  if (value === undefined) return undefined
  const frame = new Frame([], { limit: Number.POSITIVE_INFINITY, patterns: new Patterns() })
  const result = ((only as Overload).run as unknown as Run)(frame, value)
  if (result instanceof ErrorValue) throw new PlanError(result.message)
  return constantStep(result)
}
