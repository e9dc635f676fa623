import type { Overload } from './declarations.ts'
import type { Type } from './types.ts'
import type { Value } from './values.ts'

/**
 * What an expression consists of. The checker writes types and resolved functions into the nodes; a tree belongs to one
 * expression and is read only afterwards.
 */
export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | MessageExpr | Fold

interface Node {
  /** Index into the text that errors point at. */
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
  /** With a leading dot when it was written so. */
  readonly name: string
  /** For names of types and constants: what they stand for. Set by the checker. */
  constant?: Value
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `has(operand.field)` */
  readonly test: boolean
  /** A dotted name that is a variable of its own. Set by the checker. */
  resolved?: Ident
}

export interface Call extends Node {
  readonly kind: 'call'
  name: string
  /** Dropped by the checker when it is the first part of the function's name. */
  target: Expr | undefined
  readonly args: readonly Expr[]
  /** All that may be meant. Set by the checker. */
  overloads?: readonly Overload[]
}

export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly items: readonly Expr[]
  /** Indices of `?item`. */
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
  readonly fields: readonly { readonly name: string; readonly at: number; readonly value: Expr }[]
}

/** A loop over a list or map, as macros make it: `acc = init; for (x in range) if (condition) acc = step; result`. */
export interface Fold extends Node {
  readonly kind: 'fold'
  readonly range: Expr
  readonly item: string
  /** Of loops with two variables: index and item, or key and value. */
  readonly second: string | undefined
  readonly accumulator: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** `a.b.c` as a name; `undefined` when it is more than names. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.test) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
