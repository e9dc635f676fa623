import type { Macro } from '../syntax/macros.ts'
import type { FunctionDeclaration } from '../values/declarations.ts'
import type { Type } from '../values/types.ts'

/** A library of functions, macros and types. */
export interface Library {
  readonly name: string
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Types that expressions can name. */
  readonly types?: readonly (readonly [string, Type])[]
}
