import type { Meter } from './meter.ts'
import { parametersOf, type Type } from './types.ts'
import type { Value } from './values.ts'

/** Declarations of functions, as overloads with their types and implementations, and of messages. */

/** Implements an overload. Arguments have the declared types; a returned `ErrorValue` is a runtime error. */
export type Implementation = (meter: Meter, ...args: never[]) => Value

export interface Overload {
  readonly id: string
  /** Whether the overload is called as `first.name(rest)`. */
  readonly member: boolean
  readonly args: readonly Type[]
  readonly result: Type
  readonly run: Implementation
  /** Names of the type parameters of arguments and result. */
  readonly params: readonly string[]
}

/** A type of message literals. */
export interface MessageDeclaration {
  /** Types of the fields. */
  readonly fields: ReadonlyMap<string, Type>
  /** Type of the created value. */
  readonly type: Type
  /** The value of a literal with these fields. */
  create(fields: ReadonlyMap<string, Value>): Value
}

export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
}

/** Declares an overload called as `name(args)`. */
export function overload(id: string, args: readonly Type[], result: Type, run: Implementation): Overload {
  return { id, member: false, args, result, run, params: paramNames([...args, result]) }
}

/** Declares an overload called as `args[0].name(rest)`. */
export function method(id: string, args: readonly Type[], result: Type, run: Implementation): Overload {
  return { ...overload(id, args, result, run), member: true }
}

export function declare(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads }
}

function paramNames(types: readonly Type[]): readonly string[] {
  const names = new Set<string>()
  const visit = (type: Type): void => {
    if (type.kind === 'param') names.add(type.name)
    else parametersOf(type).forEach(visit)
  }
  types.forEach(visit)
  return [...names]
}
