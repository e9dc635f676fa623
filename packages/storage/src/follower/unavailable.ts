import { StorageError } from '../storage-error.ts'

/** The remote store cannot be reached or refused the call: a write had no effect. */
export function unavailable(problem: string, cause?: unknown): StorageError {
  return new StorageError({ code: 'Unavailable', reason: 'remote', problem, ...(cause === undefined ? {} : { cause }) })
}

/** A write may have happened, or may still happen. */
export function unknownOutcome(cause: unknown): StorageError {
  const problem = `the outcome of a write is unknown: ${cause instanceof Error ? cause.message : String(cause)}`
  return new StorageError({ code: 'Unavailable', reason: 'outcome', problem, cause })
}
