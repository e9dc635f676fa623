import { type CostRule, callCost } from '../cost/call-cost.ts'
import { compilePattern } from '../pattern/pattern.ts'
import type { Call, Expr, Fold, Ident, ListExpr, MapExpr, MessageExpr, Select } from '../syntax/ast.ts'
import type { Implementation, Overload } from '../values/declarations.ts'
import { equal, scalarMembership } from '../values/equality.ts'
import type { Meter } from '../values/meter.ts'
import { NamedFormat } from '../values/named-format.ts'
import { Patterns } from '../values/patterns.ts'
import { isDyn } from '../values/types.ts'
import {
  ArrayList,
  ErrorValue,
  fitsType,
  goTypeOf,
  LiteralMap,
  mapKey,
  OpaqueValue,
  Optional,
  TypeValue,
  typeNameOf,
  type Value,
} from '../values/values.ts'
import { planFold } from './plan-fold.ts'
import {
  accessBase,
  foldConstantCall,
  optionalIndex,
  optionalMember,
  selectIndex,
  selectMember,
  withoutBaseCost,
} from './plan-select.ts'
import { nameInErrors, noOverload, refusal, refusesNull, searches } from './refusals.ts'
import {
  type Constant,
  constantOf,
  constantStep,
  Frame,
  type PlanContext,
  PlanError,
  pausable,
  type Run,
  type Step,
} from './step.ts'

const longCalls: ReadonlySet<string> = new Set(['getQuery'])

export class Planner implements PlanContext {
  readonly #slots = new Map<string, number>()
  /** Initial values of variables that are computed on first use, by slot. */
  readonly #inits = new Map<number, Step>()
  #count = 0

  constructor(variables: Iterable<string>) {
    for (const name of variables) this.#slots.set(name, this.#count++)
  }

  get slots(): number {
    return this.#count
  }

  /** Slot of a variable. */
  slotOf(name: string): number {
    return this.#slots.get(name) as number
  }

  local<T>(name: string, inside: (slot: number) => T, init?: Step): T {
    const before = this.#slots.get(name)
    const slot = this.#count++
    if (init !== undefined) this.#inits.set(slot, init)
    this.#slots.set(name, slot)
    const result = inside(slot)
    if (before === undefined) this.#slots.delete(name)
    else this.#slots.set(name, before)
    return result
  }

  plan(expr: Expr): Constant {
    switch (expr.kind) {
      case 'literal':
        return constantStep(expr.value)
      case 'ident':
        return this.#ident(expr)
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'fold':
        return planFold(this, expr as Fold)
      case 'message':
        return this.#message(expr)
    }
  }

  #ident({ name, constant }: Ident): Constant {
    const plain = name.replace(/^\./, '')
    const slot = this.#slots.get(plain)
    if (constant instanceof ErrorValue) throw new PlanError(constant.message)
    if (constant !== undefined) return constantStep(constant)
    const missing = new ErrorValue(`no such attribute(s): ${plain}`)
    const init = slot === undefined ? undefined : this.#inits.get(slot)
    if (slot !== undefined && init !== undefined) {
      return pausable((frame) => {
        frame.charge(1)
        frame.slots[slot] ??= init(frame)
        return frame.slots[slot] as Value
      })
    }
    return (frame) => {
      if (++frame.cost > frame.limit) frame.charge(0)
      const value = slot === undefined ? undefined : frame.slots[slot]
      return value === undefined ? missing : value
    }
  }

  #select({ resolved, operand, field, test }: Select): Constant {
    if (resolved !== undefined) return this.#ident(resolved)
    return selectMember(accessBase(operand, this.plan(operand)), field, test)
  }

  #call(expr: Call): Constant {
    const operands = expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    if (expr.name === '_?._') {
      const [target, name] = operands as [Expr, Expr]
      return optionalMember(accessBase(target, this.plan(target)), name)
    }
    const steps = operands.map((operand) => this.plan(operand))
    const [first, second, third] = steps as [Constant, Constant, Constant]
    switch (expr.name) {
      case '_&&_':
        return logical(first, second, false)
      case '_||_':
        return logical(first, second, true)
      case '_?_:_':
        return conditional(first, withoutBaseCost(operands[1] as Expr, second), withoutBaseCost(operands[2] as Expr, third))
      case '@not_strictly_false':
        return notStrictlyFalse(first)
      case 'or':
        return orElse(first, second, (optional) => optional)
      case 'orValue':
        return orElse(first, second, ({ value }) => value as Value)
      case '_[_]':
        return selectIndex(accessBase(operands[0] as Expr, first), withoutBaseCost(operands[1] as Expr, second))
      case '_[?_]':
        return optionalIndex(accessBase(operands[0] as Expr, first), withoutBaseCost(operands[1] as Expr, second))
    }
    const overloads = expr.overloads ?? []
    const only = overloads.length === 1 ? (overloads[0] as Overload) : undefined
    const name = nameInErrors(expr.name, steps.length > 1 && constantOf(second) !== undefined)
    const run = (only?.run ?? dispatch(name, overloads)) as unknown as Run
    const folded = foldConstantCall(expr.name, run, steps)
    if (folded !== undefined) return folded
    if (only?.id === 'in_list' && constantOf(second) instanceof ArrayList)
      return inConstant(first, constantOf(second) as ArrayList)
    const cost = callCost(expr.name, only?.id ?? '')
    if (searches.has(expr.name) && second !== undefined) checkPattern(second)
    // Statically checked arguments need no runtime check.
    const dynamic = operands.some(({ type }) => type === undefined || isDyn(type) || (type.kind === 'list' && isDyn(type.elem)))
    const fits = only !== undefined && dynamic ? guard(only) : undefined
    const refuses = only === undefined ? undefined : refusesNull(only)
    const step = strictCall(run, steps, { name, cost, fits, refuses })
    return typeof cost === 'number' && only !== undefined && !longCalls.has(expr.name) ? step : pausable(step)
  }

  #list({ items, optional }: ListExpr): Constant {
    const steps = items.map((item) => this.plan(item))
    if (optional.size === 0 && steps.every((step) => constantOf(step) !== undefined)) {
      return constantStep(new ArrayList(steps.map((step) => constantOf(step) as Value)))
    }
    const make: Step = (frame) => {
      const values: Value[] = []
      for (let i = 0; i < steps.length; i++) {
        const value = (steps[i] as Step)(frame)
        if (value instanceof ErrorValue) return value
        if (!optional.has(i)) values.push(value)
        else if (!(value instanceof Optional))
          return new ErrorValue(`cannot initialize optional list element from non-optional value ${typeNameOf(value)}`)
        else if (value.value !== undefined) values.push(value.value)
      }
      return new ArrayList(values)
    }
    return charged(make, 10)
  }

  #message({ name, declared, fields }: MessageExpr): Step {
    if (declared === undefined) throw new PlanError(`unknown type: ${name}`)
    const steps = fields.map((field) => ({ name: field.name, value: this.plan(field.value), optional: field.optional }))
    const make: Step = (frame) => {
      const members = new Map<string, Value>()
      for (const { name: member, value: step, optional } of steps) {
        const value = step(frame)
        if (value instanceof ErrorValue) return value
        if (!optional) members.set(member, value)
        else if (!(value instanceof Optional))
          return new ErrorValue(`cannot initialize optional entry '${member}' from non-optional value ${typeNameOf(value)}`)
        else if (value.value !== undefined) members.set(member, value.value)
      }
      return declared.create(members)
    }
    return charged(make, 40)
  }

  #map({ entries }: MapExpr): Constant {
    const steps = entries.map(({ key, value, optional }) => ({ key: this.plan(key), value: this.plan(value), optional }))
    const isKnown = steps.every(
      ({ key, value, optional }) => !optional && constantOf(key) !== undefined && constantOf(value) !== undefined,
    )
    const make = charged(mapOf(steps), 30)
    if (!isKnown) return make
    const made = make(new Frame([], { limit: Number.POSITIVE_INFINITY, patterns: new Patterns() }))
    return made instanceof ErrorValue ? make : constantStep(made)
  }
}

/** Returns a step that charges a cost even when it results in an error. */
function charged(step: Step, cost: number): Step {
  return (frame) => {
    const value = step(frame)
    frame.charge(cost)
    return value
  }
}

interface PlannedEntry {
  readonly key: Step
  readonly value: Step
  readonly optional: boolean
}

const unhashable = new ErrorValue('internal error: runtime error: hash of unhashable type types.Bytes')

function mapOf(steps: readonly PlannedEntry[]): Step {
  return (frame) => {
    const made = new Map<unknown, readonly [Value, Value]>()
    for (const { key: keyStep, value: valueStep, optional } of steps) {
      const key = keyStep(frame)
      if (key instanceof ErrorValue) return key
      const value = valueStep(frame)
      if (value instanceof ErrorValue) return value
      const id = mapKey(key)
      if (key instanceof Uint8Array) return unhashable
      // As on kube-apiserver, the last entry of a key wins, and an absent optional entry removes the key.
      if (!optional) made.set(id, [key, value])
      else if (!(value instanceof Optional))
        return new ErrorValue(`cannot initialize optional entry '${String(key)}' from non-optional value ${typeNameOf(value)}`)
      else if (value.value === undefined) made.delete(id)
      else made.set(id, [key, value.value])
    }
    return new LiteralMap(made)
  }
}

/** `&&` or `||`: an error on one side is ignored when the other side decides. */
function logical(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    const first = left(frame)
    if (first === decisive) return decisive
    const second = right(frame)
    if (second === decisive) return decisive
    const undecided = typeof first === 'boolean' ? second : first
    if (typeof undecided === 'boolean') return !decisive
    return undecided instanceof ErrorValue ? undecided : noOverload
  }
}

/**
 * As in kube-apiserver, if the result of a condition is an optional, its content is converted to a native value and back: an
 * inner optional becomes its value, a type becomes its name, and most opaque objects become errors.
 */
function unwrapped(value: Value): Value {
  const inner = value instanceof Optional ? value.value : undefined
  if (inner instanceof Optional) return new Optional(inner.value ?? null)
  if (inner instanceof TypeValue) return new Optional(inner.name)
  if (!(inner instanceof OpaqueValue) || inner instanceof NamedFormat) return value
  return new Optional(new ErrorValue(`unsupported conversion to ref.Val: (${goTypeOf(inner)})`))
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const held = condition(frame)
    if (held === true) return unwrapped(yes(frame))
    if (held === false) return unwrapped(no(frame))
    return held instanceof ErrorValue ? held : noOverload
  }
}

/**
 * Plans `or` and `orValue`. The second operand is evaluated only if the first is an empty optional; the call itself has no cost.
 * As in kube-apiserver, a first operand that is not an optional is the result.
 */
function orElse(first: Step, second: Step, held: (optional: Optional) => Value): Step {
  return (frame) => {
    const optional = first(frame)
    if (!(optional instanceof Optional)) return optional
    return optional.value === undefined ? second(frame) : held(optional)
  }
}

function notStrictlyFalse(step: Step): Step {
  return (frame) => {
    const value = step(frame)
    frame.charge(1)
    return value !== false
  }
}

/** @throws PlanError for a constant that is not a valid regular expression. */
function checkPattern(source: Constant): void {
  const text = constantOf(source)
  const pattern = typeof text === 'string' ? compilePattern(text) : undefined
  if (pattern !== undefined && 'problem' in pattern) throw new PlanError(pattern.problem)
}

/** Plans membership in a constant list: only the operand has a cost, and it is not evaluated for an empty list. */
function inConstant(operand: Step, list: ArrayList): Step {
  if (list.size === 0) return constantStep(false)
  const has = scalarMembership(list.items)
  return (frame) => {
    const value = operand(frame)
    if (value instanceof ErrorValue) return value
    return has === undefined ? list.items.some((item) => equal(value, item, frame) === true) : has(value)
  }
}

interface CallRules {
  /** The function name in errors, if shown. */
  readonly name: string | undefined
  readonly cost: CostRule
  /** Checks argument types at run time; absent if they were checked statically. */
  readonly fits: ((args: readonly Value[]) => boolean) | undefined
  /** Rejects null arguments: the static type does not tell whether a value of a schema is nullable. */
  readonly refuses: ((args: readonly Value[]) => boolean) | undefined
}

/**
 * Evaluates the arguments, charges the cost and calls the function; the first error of an argument is the result. As in
 * kube-apiserver, functions of up to two arguments evaluate and charge all arguments even after an error; functions of more
 * arguments stop at the first error.
 */
function strictCall(run: Run, steps: readonly Step[], { name, cost, fits, refuses }: CallRules): Step {
  const [first, second] = steps as [Step, Step]
  if (steps.length === 1 && typeof cost === 'number') {
    return (frame) => {
      const a = first(frame)
      frame.charge(cost)
      if (a instanceof ErrorValue) return a
      if ((a === null && refuses?.([a]) === true) || (fits !== undefined && !fits([a]))) return refusal(name, [a])
      return run(frame, a)
    }
  }
  if (steps.length === 2 && typeof cost === 'number' && fits === undefined) {
    return (frame) => {
      const a = first(frame)
      const b = second(frame)
      frame.charge(cost)
      if (a instanceof ErrorValue) return a
      if (b instanceof ErrorValue) return b
      return (a === null || b === null) && refuses?.([a, b]) === true ? refusal(name, [a, b]) : run(frame, a, b)
    }
  }
  return (frame) => {
    const args: Value[] = []
    let error: ErrorValue | undefined
    let hasNull = false
    for (const step of steps) {
      const value = step(frame)
      args.push(value)
      if (value === null) hasNull = true
      else if (value instanceof ErrorValue) {
        if (steps.length > 2 && args.length < steps.length) return value
        error ??= value
      }
    }
    if (typeof cost === 'number') frame.charge(cost)
    else if (!cost.byResult) frame.charge(cost.of(args, null, frame))
    if ((hasNull && refuses?.(args) === true) || (fits !== undefined && !fits(args))) error ??= refusal(name, args)
    const result = error ?? run(frame, ...args)
    if (typeof cost !== 'number' && cost.byResult) frame.charge(cost.of(args, result, frame))
    return result
  }
}

function guard({ args }: Overload): (values: readonly Value[]) => boolean {
  return (values) => args.every((type, index) => fitsType(values[index] as Value, type))
}

function dispatch(name: string | undefined, overloads: readonly Overload[]): Implementation {
  return (frame: Meter, ...args: readonly Value[]) => {
    for (const { args: types, run } of overloads) {
      if (types.length === args.length && types.every((type, index) => fitsType(args[index] as Value, type)))
        return (run as unknown as Run)(frame as Frame, ...args)
    }
    return refusal(name, args)
  }
}
