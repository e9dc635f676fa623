import type { FunctionDeclaration } from '../declarations.ts'
import type { Macro } from '../macros.ts'
import type { Type } from '../types.ts'

/** Functions, macros and types that belong together. */
export interface Library {
  readonly name: string
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Types that expressions may name. */
  readonly types?: readonly (readonly [string, Type])[]
}
