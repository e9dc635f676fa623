/** Size limits of expressions. */

/** Maximum nodes per expression. Macros that duplicate their target can multiply the size. */
export const maxNodes = 100_000

/** Shared node budget of the expressions of one object; bounds its compile time to a few seconds. */
export interface CompileBudget {
  nodes: number
}

/**
 * Creates the node budget of one object.
 *
 * @see CompileBudget
 */
export function createCompileBudget(): CompileBudget {
  return { nodes: 250_000 }
}
