/**
 * Errors without stacks, for API errors and malformed input: they are created often, also on hostile input, so capturing stacks
 * would be costly.
 */

/** An error that captures no stack. */
export abstract class StacklessError extends Error {
  constructor(message: string | undefined, options?: ErrorOptions) {
    const limit = setStackLimit(0)
    super(message, options)
    setStackLimit(limit)
  }
}

/** Sets the number of captured stack frames, if the engine permits, and returns the previous one. */
function setStackLimit(limit: number): number {
  const previous = Error.stackTraceLimit
  try {
    Error.stackTraceLimit = limit
  } catch {
    // A frozen `Error` still captures frames; this is only slower.
  }
  return previous
}
