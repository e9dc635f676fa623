import type { Call, Expr, Fold } from '../syntax/ast.ts'
import { isDyn, type Type, unwrapOptional } from '../values/types.ts'
import { charCount, Double, isInt, Uint } from '../values/values.ts'
import { type CallArgument, estimateCall } from './call-estimates.ts'
import { type Estimate, either, exactly, noCost, one, plus, times, unknownSize } from './estimate.ts'

/**
 * Estimates the worst-case cost of an expression from the size limits of schemas. Rules are accepted or rejected by this estimate,
 * so it reproduces the computation of kube-apiserver exactly.
 */

/** Origin of a value: a variable, then members, `@items`, `@keys`, `@values`. */
export type SizePath = readonly string[]

/** Size of the value at a path; `undefined` when unknown. */
export type SizeOf = (path: SizePath) => Estimate | undefined

export function estimateCost(expr: Expr, sizeOf: SizeOf): Estimate {
  return new CostEstimator(sizeOf).cost(expr)
}

/** Sizes of the keys and values of a list or map. */
interface Entries {
  readonly container: 'list' | 'map'
  readonly key: Estimate
  readonly value: Estimate
}

interface Local {
  readonly path: SizePath
  readonly size: Estimate | undefined
  readonly entries: Entries | undefined
}

class CostEstimator {
  readonly #sizeOf: SizeOf
  readonly #paths = new Map<Expr, SizePath>()
  readonly #sizes = new Map<Expr, Estimate>()
  readonly #entries = new Map<Expr, Entries>()
  readonly #locals = new Map<string, Local[]>()

  constructor(sizeOf: SizeOf) {
    this.#sizeOf = sizeOf
  }

  cost(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'literal':
        return noCost
      case 'message':
        return plus(...expr.fields.map(({ value }) => this.cost(value)), exactly(40))
      case 'ident': {
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name.replace(/^\./, '')])
        return one
      }
      case 'select': {
        if (expr.resolved !== undefined) return one
        const operand = this.cost(expr.operand)
        if (expr.test) return operand
        this.#extend(expr, expr.operand, expr.field)
        const { kind } = expr.operand.type as Type
        return kind === 'map' || kind === 'struct' || kind === 'param' ? plus(operand, one) : operand
      }
      case 'call':
        return this.#call(expr)
      case 'list': {
        const costs = expr.items.map((item) => this.cost(item))
        const value = expr.items.map((item) => this.#sizeOrUnknown(item)).reduce(either, noItems(expr.items.length))
        this.#entries.set(expr, { container: 'list', key: one, value })
        return plus(...costs, exactly(10))
      }
      case 'map': {
        const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)])
        const start = noItems(expr.entries.length)
        const key = expr.entries.map((entry) => this.#sizeOrUnknown(entry.key)).reduce(either, start)
        const value = expr.entries.map((entry) => this.#sizeOrUnknown(entry.value)).reduce(either, start)
        this.#entries.set(expr, { container: 'map', key, value })
        return plus(...costs, exactly(30))
      }
      case 'fold':
        return expr.item === '#unused' ? this.#binding(expr) : this.#loop(expr)
    }
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name)
    if (stack === undefined) this.#locals.set(name, [local])
    else stack.push(local)
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }

  /** Records the path of `expr` as a step below `from`. */
  #extend(expr: Expr, from: Expr, step: string): void {
    this.#paths.set(expr, [...this.#pathOf(from), step])
  }

  /**
   * Path of a value; empty for a computed value. As in kube-apiserver, a path below a computed value starts with the step,
   * which is then taken as the variable: the items of `self.split(',')` have the size limit of `self`.
   */
  #pathOf(expr: Expr): SizePath {
    const local = expr.kind === 'ident' ? this.#local(expr.name) : undefined
    return (local === undefined ? this.#paths.get(expr) : local.path) ?? []
  }

  /** Size of a path by the limits of the schema. */
  #declaredSize(path: SizePath): Estimate | undefined {
    return path.length === 0 ? undefined : this.#sizeOf(path)
  }

  #call(expr: Call): Estimate {
    if (expr.name === 'dyn') {
      const [arg] = expr.args as [Expr]
      const cost = this.cost(arg)
      this.#copySizes(expr, arg)
      return plus(one, cost)
    }
    const args = expr.args.map((arg): CallArgument => ({ cost: this.cost(arg), ...this.#argument(arg) }))
    const overloads = expr.overloads ?? []
    if (overloads.length === 0) return noCost
    const own = expr.target === undefined ? noCost : this.cost(expr.target)
    const target = expr.target === undefined ? undefined : this.#argument(expr.target)
    let cost: Estimate = { min: Number.POSITIVE_INFINITY, max: 0 }
    let size: Estimate | undefined
    for (const { id } of overloads) {
      const estimate = estimateCall({ name: expr.name, overload: id, target, args })
      cost = either(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : either(size, estimate.size)
      if (id === 'index_list' || id === 'index_map') {
        const [container] = expr.args as [Expr]
        size = this.#entriesOf(container)?.value
        this.#extend(expr, container, id === 'index_list' ? '@items' : '@values')
      }
      if (id === 'conditional') this.#joinEntries(expr, expr.args[1] as Expr, expr.args[2] as Expr)
      if (id === 'add_list') this.#joinEntries(expr, expr.args[0] as Expr, expr.args[1] as Expr)
      size ??= this.#size(expr)
    }
    if (size !== undefined) this.#sizes.set(expr, size)
    return plus(own, cost)
  }

  #joinEntries(expr: Expr, a: Expr, b: Expr): void {
    const left = this.#entriesOf(a)
    const right = this.#entriesOf(b)
    if (left === undefined || right === undefined) return
    this.#entries.set(expr, {
      container: left.container,
      key: either(left.key, right.key),
      value: either(left.value, right.value),
    })
  }

  /** The properties of an argument that call estimates use. */
  #argument(expr: Expr): Omit<CallArgument, 'cost'> {
    const path = this.#pathOf(expr)
    return {
      type: expr.type as Type,
      size: this.#size(expr),
      ...(expr.kind === 'literal' && isInt(expr.value) ? { literal: Number(expr.value) } : {}),
      // The size of items is used only if the schema declares the list.
      item: () => (path.length === 0 ? undefined : this.#sizeOf([...path, '@items'])) ?? unknownSize,
    }
  }

  #loop(expr: Fold): Estimate {
    const { range, init, accumulator: held, item, second, condition, step, result } = expr
    const before = [this.cost(range), this.cost(init)]
    this.#push(held, { path: this.#pathOf(init), size: this.#size(init), entries: this.#entriesOf(init) })
    this.#pushItems(range, item, second)
    const inLoop = plus(this.cost(condition), this.cost(step))
    this.#pop(item)
    if (second !== undefined) this.#pop(second)
    const after = this.cost(result)
    this.#pop(held)
    const count = this.#sizeOrUnknown(range)
    if (init.kind === 'literal') {
      const size = this.#size(init)
      if (size !== undefined) this.#sizes.set(expr, size)
    } else if (init.kind === 'list' || init.kind === 'map') {
      this.#sizes.set(expr, count)
      const entries = this.#entriesOf(step)
      if (entries !== undefined) this.#entries.set(expr, entries)
    }
    return plus(...before, after, times(count, inLoop))
  }

  #pushItems(range: Expr, item: string, second: string | undefined): void {
    const entries = this.#entriesOf(range)
    const base = this.#pathOf(range)
    const isList = (entries?.container ?? (range.type as Type).kind) === 'list'
    const value: Local = { path: [...base, isList ? '@items' : '@values'], size: entries?.value, entries: undefined }
    const key: Local = { path: [...base, isList ? '@indices' : '@keys'], size: entries?.key, entries: undefined }
    if (second === undefined) this.#push(item, isList ? value : key)
    else {
      this.#push(item, key)
      this.#push(second, value)
    }
  }

  #binding(fold: Fold): Estimate {
    const cost = plus(this.cost(fold.range), this.cost(fold.init))
    this.#push(fold.accumulator, {
      path: this.#pathOf(fold.init),
      size: this.#size(fold.init),
      entries: this.#entriesOf(fold.init),
    })
    const result = this.cost(fold.result)
    this.#pop(fold.accumulator)
    this.#copySizes(fold, fold.result)
    return plus(cost, result)
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#size(from)
    if (size !== undefined) this.#sizes.set(to, size)
    const entries = this.#entriesOf(from)
    if (entries !== undefined) this.#entries.set(to, entries)
  }

  #sizeOrUnknown(expr: Expr): Estimate {
    return this.#size(expr) ?? unknownSize
  }

  #size(expr: Expr): Estimate | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr)
    if (known !== undefined) return known
    const declared = this.#declaredSize(this.#pathOf(expr))
    if (declared !== undefined) {
      this.#sizes.set(expr, declared)
      return declared
    }
    if (expr.type !== undefined && isScalar(expr.type)) return one
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined
  }

  #entriesOf(expr: Expr): Entries | undefined {
    return this.#entries.get(expr) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined)
  }
}

/** Neutral estimate for joining the sizes of `count` items. */
function noItems(count: number): Estimate {
  return count === 0 ? noCost : { min: Number.POSITIVE_INFINITY, max: 0 }
}

function literalSize(expr: Expr): Estimate | undefined {
  if (expr.kind === 'list') return exactly(expr.items.length)
  if (expr.kind === 'map') return exactly(expr.entries.length)
  if (expr.kind !== 'literal') return undefined
  const { value } = expr
  if (typeof value === 'string') return exactly(charCount(value))
  if (value instanceof Uint8Array) return exactly(value.length)
  return value === null || typeof value === 'boolean' || isInt(value) || value instanceof Double || value instanceof Uint
    ? one
    : undefined
}

function isScalar(type: Type): boolean {
  if (['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind)) return true
  const inner = unwrapOptional(type)
  return inner !== undefined && !isDyn(inner) && isScalar(inner)
}
