/** Throws when an internal invariant is broken, which is a bug in this package. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
