import type { Value } from '../values/values.ts'
import type { Expr, Fold, MapEntry } from './ast.ts'
import type { Problem } from './source.ts'

/** Macros: calls that are expanded to comprehensions and tests before checking. */

/** A call that may be a macro. */
export interface MacroCall {
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
  readonly at: number
}

type Expand = (call: Required<MacroCall>, build: Builder) => Expr | Problem

/** A macro with its key. @see MacroTable */
export type Macro = readonly [key: string, expand: Expand]

/** Macros by name, kind of call and number of arguments: `all/member/2`. */
export type MacroTable = ReadonlyMap<string, Expand>

/** Name of the accumulator variable; not a valid identifier, so it cannot clash with one. */
export const accumulator = '@result'

/** `undefined` when the call is not a macro. */
export function expandMacro(table: MacroTable, call: MacroCall): { expr: Expr; nodes: number } | Problem | undefined {
  const kind = call.target === undefined ? 'global' : 'member'
  const expand = table.get(`${call.name}/${kind}/${call.args.length}`)
  if (expand === undefined) return undefined
  const build = new Builder(call.at)
  const expr = expand(call as Required<MacroCall>, build)
  return 'message' in expr ? expr : { expr, nodes: build.nodes }
}

/** Creates nodes located at the call. */
class Builder {
  readonly at: number
  nodes = 0

  constructor(at: number) {
    this.at = at
  }

  literal(value: Value): Expr {
    return this.#count({ kind: 'literal', at: this.at, value })
  }

  ident(name: string): Expr {
    return this.#count({ kind: 'ident', at: this.at, name })
  }

  result(): Expr {
    return this.ident(accumulator)
  }

  call(name: string, ...args: readonly Expr[]): Expr {
    return this.#count({ kind: 'call', at: this.at, name, target: undefined, args })
  }

  member(name: string, target: Expr, ...args: readonly Expr[]): Expr {
    return this.#count({ kind: 'call', at: this.at, name, target, args })
  }

  list(...items: readonly Expr[]): Expr {
    return this.#count({ kind: 'list', at: this.at, items, optional: new Set<number>() })
  }

  map(entries: readonly MapEntry[] = []): Expr {
    return this.#count({ kind: 'map', at: this.at, entries })
  }

  fold(parts: Omit<Fold, 'kind' | 'at' | 'accumulator' | 'type'> & { readonly accumulator?: string }): Expr {
    return this.#count({ kind: 'fold', at: this.at, accumulator, ...parts })
  }

  /** A deep copy of the tree. */
  copy(expr: Expr): Expr {
    this.nodes++
    switch (expr.kind) {
      case 'select':
        return { ...expr, operand: this.copy(expr.operand) }
      case 'call': {
        const target = expr.target === undefined ? undefined : this.copy(expr.target)
        return { ...expr, target, args: expr.args.map((arg) => this.copy(arg)) }
      }
      case 'list':
        return { ...expr, items: expr.items.map((item) => this.copy(item)) }
      case 'map':
        return {
          ...expr,
          entries: expr.entries.map((entry) => ({ ...entry, key: this.copy(entry.key), value: this.copy(entry.value) })),
        }
      case 'message':
        return { ...expr, fields: expr.fields.map((field) => ({ ...field, value: this.copy(field.value) })) }
      case 'fold':
        return {
          ...expr,
          range: this.copy(expr.range),
          init: this.copy(expr.init),
          condition: this.copy(expr.condition),
          step: this.copy(expr.step),
          result: this.copy(expr.result),
        }
      default:
        return { ...expr }
    }
  }

  #count<N extends Expr>(node: N): N {
    this.nodes++
    return node
  }
}

/** Name of a variable; a problem when the argument is not an identifier. */
function variable(expr: Expr, message: string): string | Problem {
  if (expr.kind !== 'ident' || expr.name.startsWith('.')) return { at: expr.at, message }
  return expr.name
}

const notAName = 'argument must be a simple name'

/** One or two comprehension variables. */
function loopVariables(
  args: readonly Expr[],
  count: number,
  message: string,
): { item: string; second: string | undefined } | Problem {
  const names: string[] = []
  for (const arg of args.slice(0, count)) {
    const name = variable(arg, message)
    if (typeof name !== 'string') return name
    if (names.includes(name)) return { at: arg.at, message: `duplicate variable name: ${name}` }
    names.push(name)
  }
  return { item: names[0] as string, second: names[1] }
}

const has: Expand = ({ args, at }) => {
  const [arg] = args as [Expr]
  if (arg.kind !== 'select' || arg.test) return { at: arg.at, message: 'invalid argument to has() macro' }
  return { ...arg, at, test: true }
}

type LoopParts = (build: Builder, predicate: Expr) => Pick<Fold, 'init' | 'condition' | 'step' | 'result'>

const all: LoopParts = (build, predicate) => ({
  init: build.literal(true),
  condition: build.call('@not_strictly_false', build.result()),
  step: build.call('_&&_', build.result(), predicate),
  result: build.result(),
})

const exists: LoopParts = (build, predicate) => ({
  init: build.literal(false),
  condition: build.call('@not_strictly_false', build.call('!_', build.result())),
  step: build.call('_||_', build.result(), predicate),
  result: build.result(),
})

const existsOne: LoopParts = (build, predicate) => ({
  init: build.literal(0),
  condition: build.literal(true),
  step: build.call('_?_:_', predicate, build.call('_+_', build.result(), build.literal(1)), build.result()),
  result: build.call('_==_', build.result(), build.literal(1)),
})

/** Collects `item` where `filter` holds. */
function collect(build: Builder, item: Expr, filter: Expr | undefined): ReturnType<LoopParts> {
  const step = build.call('_+_', build.result(), build.list(item))
  return {
    init: build.list(),
    condition: build.literal(true),
    step: filter === undefined ? step : build.call('_?_:_', filter, step, build.result()),
    result: build.result(),
  }
}

function quantifier(parts: LoopParts, variables: number): Expand {
  return ({ target, args }, build) => {
    const names = loopVariables(args, variables, notAName)
    if ('message' in names) return names
    return build.fold({ range: target as Expr, ...names, ...parts(build, args[variables] as Expr) })
  }
}

const map: Expand = ({ target, args }, build) => {
  const names = loopVariables(args, 1, 'argument is not an identifier')
  if ('message' in names) return names
  const filter = args.length === 3 ? args[1] : undefined
  return build.fold({ range: target as Expr, ...names, ...collect(build, args[args.length - 1] as Expr, filter) })
}

const filter: Expand = ({ target, args }, build) => {
  const names = loopVariables(args, 1, 'argument is not an identifier')
  if ('message' in names) return names
  return build.fold({ range: target as Expr, ...names, ...collect(build, build.ident(names.item), args[1]) })
}

const transformList: Expand = ({ target, args }, build) => {
  const names = loopVariables(args, 2, notAName)
  if ('message' in names) return names
  const condition = args.length === 4 ? args[2] : undefined
  return build.fold({ range: target as Expr, ...names, ...collect(build, args[args.length - 1] as Expr, condition) })
}

function transformMap(entries: boolean): Expand {
  return ({ target, args }, build) => {
    const names = loopVariables(args, 2, notAName)
    if ('message' in names) return names
    const value = args[args.length - 1] as Expr
    const step = entries
      ? build.call('cel.@mapInsert', build.result(), value)
      : build.call('cel.@mapInsert', build.result(), build.ident(names.item), value)
    return build.fold({
      range: target as Expr,
      ...names,
      init: build.map(),
      condition: build.literal(true),
      step: args.length === 4 ? build.call('_?_:_', args[2] as Expr, step, build.result()) : step,
      result: build.result(),
    })
  }
}

/**
 * `cel.bind(name, value, result)`: evaluates `result` with the name bound to the value. A call with another target is not a
 * macro.
 */
const bind: Expand = ({ target, args, at, name: called }, build) => {
  const [binding, value, result] = args as [Expr, Expr, Expr]
  if (target?.kind !== 'ident' || target.name !== 'cel') return { kind: 'call', at, name: called, target, args }
  const name = variable(binding, 'cel.bind() variable names must be simple identifiers')
  if (typeof name !== 'string') return name
  return build.fold({
    range: build.list(),
    item: '#unused',
    second: undefined,
    accumulator: name,
    init: value,
    condition: build.literal(false),
    step: build.ident(name),
    result,
  })
}

/** `optMap` and `optFlatMap`: bind the value of an optional to a name, if present. */
function optionalMap(flat: boolean): Expand {
  return ({ target, args, name: macro }, build) => {
    const name = variable(args[0] as Expr, `${macro}() variable name must be a simple identifier`)
    if (typeof name !== 'string') return name
    const bound = build.fold({
      range: build.list(),
      item: '#unused',
      second: undefined,
      accumulator: name,
      init: build.member('value', build.copy(target as Expr)),
      condition: build.literal(false),
      step: build.ident(name),
      result: args[1] as Expr,
    })
    return build.call(
      '_?_:_',
      build.member('hasValue', target as Expr),
      flat ? bound : build.call('optional.of', bound),
      build.call('optional.none'),
    )
  }
}

export const standardMacros: readonly Macro[] = [
  ['has/global/1', has],
  ['all/member/2', quantifier(all, 1)],
  ['exists/member/2', quantifier(exists, 1)],
  ['exists_one/member/2', quantifier(existsOne, 1)],
  ['map/member/2', map],
  ['map/member/3', map],
  ['filter/member/2', filter],
]

export const optionalMacros: readonly Macro[] = [
  ['optMap/member/2', optionalMap(false)],
  ['optFlatMap/member/2', optionalMap(true)],
]

export const bindingMacros: readonly Macro[] = [['bind/member/3', bind]]

export const twoVariableMacros: readonly Macro[] = [
  ['all/member/3', quantifier(all, 2)],
  ['exists/member/3', quantifier(exists, 2)],
  ['exists_one/member/3', quantifier(existsOne, 2)],
  ['existsOne/member/3', quantifier(existsOne, 2)],
  ['transformList/member/3', transformList],
  ['transformList/member/4', transformList],
  ['transformMap/member/3', transformMap(false)],
  ['transformMap/member/4', transformMap(false)],
  ['transformMapEntry/member/3', transformMap(true)],
  ['transformMapEntry/member/4', transformMap(true)],
]
