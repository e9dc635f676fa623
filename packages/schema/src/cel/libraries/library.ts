import type { FunctionDeclaration } from '../declarations.ts'
import type { Macro } from '../macros.ts'
import type { Type } from '../types.ts'

/** A library of functions, macros and types. */
export interface Library {
  readonly name: string
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Types that expressions can name. */
  readonly types?: readonly (readonly [string, Type])[]
}
