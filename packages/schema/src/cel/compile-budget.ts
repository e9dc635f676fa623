/** How much expressions may consist of. */

/** Macros that repeat their target can multiply what is written. */
export const maxNodes = 100_000

/** What several expressions may consist of together, so that no object holds more of them than is compiled in a few seconds. */
export interface CompileBudget {
  nodes: number
}

export function compileBudget(): CompileBudget {
  return { nodes: 250_000 }
}
