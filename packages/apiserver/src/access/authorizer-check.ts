import { functionsProblem } from '@krmkit/base/arguments'
import { failWith } from '../api-server-error.ts'

/** @throws ApiServerError `InvalidOption` for an authorizer without the method `authorize`, whether configured or returned by a factory */
export function checkAuthorizer(what: string, authorizer: unknown): void {
  const hint = typeof authorizer === 'string' ? '; ({ rbac }) => rbac() authorizes by roles' : ''
  const problem = functionsProblem(what, authorizer, ['authorize'])
  if (problem !== undefined) failWith(`${problem}${hint}`)
}
