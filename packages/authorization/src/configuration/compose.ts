import { AuthorizationError } from '../authorization-error.ts'
import { privilegedGroups } from '../builtin-authorizers.ts'
import type { Authorizer } from '../interfaces.ts'
import { unionAuthorizer } from '../union.ts'
import type { AuthorizationConfiguration, AuthorizationWebhook, ConditionCompiler } from './interfaces.ts'
import { conditionalAuthorizer } from './match-conditions.ts'
import { compileConditions } from './validate.ts'

export interface AuthorizerParts {
  /** Those that there is one of, by type. */
  readonly byType: ReadonlyMap<string, Authorizer>
  /** Makes the one that asks a webhook; its conditions are looked at by others. */
  readonly webhook: (webhook: AuthorizationWebhook, name: string) => Authorizer
  readonly conditions: ConditionCompiler
}

/**
 * The authorizers of a configuration that has been found right, in its order. Administrators come in whatever it says: a
 * server whose webhook refuses everything could not be mended otherwise.
 *
 * @throws AuthorizationError `InvalidConfiguration` for a type that the server has not been started with.
 */
export function composeAuthorizers({ authorizers }: AuthorizationConfiguration, parts: AuthorizerParts): Authorizer {
  const chosen = authorizers.map(({ type, name, webhook }): Authorizer => {
    if (webhook !== undefined) {
      return conditionalAuthorizer(parts.webhook(webhook, name), {
        conditions: compileConditions(webhook.matchConditions, parts.conditions),
        onError: webhook.failurePolicy === 'Deny' ? 'deny' : 'noOpinion',
      })
    }
    const known = parts.byType.get(type)
    if (known !== undefined) return known
    const message = `authorizer type ${type} is not allowed if it was not enabled at initial server startup`
    throw new AuthorizationError({ code: 'InvalidConfiguration', message })
  })
  return unionAuthorizer([privilegedGroups(), ...chosen])
}
