import { ControllersError } from '../controllers-error.ts'

/** Members of an object with any values. */
export type Members = Readonly<Record<string, unknown>>

/**
 * Checks that a value is an object with only allowed members, and returns the members.
 *
 * @param allowed absent: all names are allowed
 * @throws ControllersError `InvalidSimulation` that names the path
 */
export function members(value: unknown, path: string, allowed?: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(path, 'must be an object')
  for (const name of Object.keys(value)) {
    if (allowed === undefined || allowed.includes(name)) continue
    throw invalid(path, `unknown member ${JSON.stringify(name)}; known: ${allowed.join(', ')}`)
  }
  return value as Members
}

export function invalid(path: string, problem: string): ControllersError {
  return new ControllersError({ code: 'InvalidSimulation', message: `${path}: ${problem}` })
}
