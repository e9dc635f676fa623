/**
 * Errors that are answers, not faults of the program: made often, with hostile input, so no stack is captured.
 */

/** An error without a stack. */
export abstract class QuietError extends Error {
  constructor(message: string | undefined) {
    const limit = setStackLimit(0)
    super(message)
    setStackLimit(limit)
  }
}

/** Sets how many frames the engine records, where it lets itself be told, and returns what it was before. */
function setStackLimit(limit: number): number {
  const previous = Error.stackTraceLimit
  try {
    Error.stackTraceLimit = limit
  } catch {
    // A frozen `Error` records its frames; that costs time and nothing else.
  }
  return previous
}
