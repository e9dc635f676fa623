import { AuthorizationError } from './authorization-error.ts'
import type { Attributes } from './interfaces.ts'

/** Argument checks for callers that are not type-checked. */

/** @throws AuthorizationError `InvalidArgument` for attributes without a user and their groups */
export function requireUser(attributes: Attributes): void {
  if (!Array.isArray((attributes as Partial<Attributes> | undefined)?.user?.groups))
    throw invalidArgument('authorize needs attributes with user: { username, groups }')
}

export function invalidArgument(message: string): AuthorizationError {
  return new AuthorizationError({ code: 'InvalidArgument', message })
}
