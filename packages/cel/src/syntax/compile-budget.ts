/** Size limits of expressions. */

/** Maximum nodes per expression. Macros that duplicate their target can multiply the size. */
export const maxNodes = 100_000

/** Shared node budget of the expressions of one object; bounds its compile time to a few seconds. */
export interface CompileBudget {
  nodes: number
}

/**
 * Creates the node budget that all expressions of one object share.
 *
 * @example
 * import { compileExpression, createCompileBudget, Environment } from '@krmkit/cel'
 * import { dynType } from '@krmkit/cel/types'
 * const budget = createCompileBudget()
 * const environment = Environment.ofRelease('1.33').with([['self', dynType]])
 * const compile = (text: string) => compileExpression(environment, text, { budget })
 * const problems = ['self.min < self.max', 'self.min >'].filter((text) => 'problem' in compile(text))
 * problems // [ 'self.min >' ]
 * @see {@link CompileBudget}
 */
export function createCompileBudget(): CompileBudget {
  return { nodes: 250_000 }
}
