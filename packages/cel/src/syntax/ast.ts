import type { MessageDeclaration, Overload } from '../values/declarations.ts'
import type { Type } from '../values/types.ts'
import type { Value } from '../values/values.ts'

/** Syntax tree of an expression. The checker stores types and resolved functions in the nodes; afterwards the tree is read-only. */
export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | MessageExpr | Fold

interface Node {
  /** Index into the source text, for error messages. */
  readonly at: number
  /** Set by the checker. */
  type?: Type
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Ident extends Node {
  readonly kind: 'ident'
  /** Includes a leading dot, if any. */
  readonly name: string
  /** Value of a type name or constant. Set by the checker. */
  constant?: Value
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `has(operand.field)` */
  readonly test: boolean
  /** The variable, when the dotted name is a variable name. Set by the checker. */
  resolved?: Ident
}

export interface Call extends Node {
  readonly kind: 'call'
  name: string
  /** Removed by the checker when it is a namespace of the function name. */
  target: Expr | undefined
  readonly args: readonly Expr[]
  /** Candidate overloads. Set by the checker. */
  overloads?: readonly Overload[]
}

export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly items: readonly Expr[]
  /** Indexes of `?item`. */
  readonly optional: ReadonlySet<number>
}

export interface MapEntry {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

/** `Type{field: value}` */
export interface MessageExpr extends Node {
  readonly kind: 'message'
  readonly name: string
  /** Set by type checking. */
  declared?: MessageDeclaration
  readonly fields: readonly { readonly name: string; readonly at: number; readonly value: Expr; readonly optional: boolean }[]
}

/** A comprehension, as macros expand to it: `acc = init; for (x in range) if (condition) acc = step; result`. */
export interface Fold extends Node {
  readonly kind: 'fold'
  readonly range: Expr
  readonly item: string
  /** Second variable of a two-variable comprehension: index and item, or key and value. */
  readonly second: string | undefined
  readonly accumulator: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** The dotted name `a.b.c`; `undefined` for other expressions. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.test) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

/** The direct subexpressions, in source order. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.items
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'message':
      return expr.fields.map(({ value }) => value)
    case 'fold':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
  }
}
