import { functionsProblem } from '@krmkit/base/arguments'
import { AuthenticationError } from './authentication-error.ts'

/** Argument checks for callers that are not type-checked. */

/** @throws AuthenticationError `InvalidArgument` unless the value is an object with this function */
export function requireMethod(what: string, value: unknown, name: string): void {
  const problem = functionsProblem(what, value, [name])
  if (problem !== undefined) throw invalidArgument(problem)
}

/** @throws AuthenticationError `InvalidArgument` unless the value is a list of objects with this function */
export function requireMembers(call: string, value: unknown, name: string): void {
  if (!Array.isArray(value)) throw invalidArgument(`${call} needs a list`)
  for (const [index, member] of value.entries()) requireMethod(`${call}: member ${index}`, member, name)
}

export function invalidArgument(message: string): AuthenticationError {
  return new AuthenticationError({ code: 'InvalidArgument', message })
}
