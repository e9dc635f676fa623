import { AuthorizationError } from '../authorization-error.ts'
import { createPrivilegedGroupsAuthorizer } from '../builtin-authorizers.ts'
import type { Authorizer } from '../interfaces.ts'
import { createUnionAuthorizer } from '../union.ts'
import type { AuthorizationConfiguration, AuthorizationWebhook, MatchConditionCompiler } from './interfaces.ts'
import { createConditionalAuthorizer } from './match-conditions.ts'
import { compileMatchConditions } from './validate.ts'

export interface ComposeAuthorizersOptions {
  /** Those that there is one of, by type. */
  readonly byType: ReadonlyMap<string, Authorizer>
  /** Makes the one that asks a webhook; its conditions are looked at by others. */
  readonly webhook: (webhook: AuthorizationWebhook, name: string) => Authorizer
  readonly conditions: MatchConditionCompiler
}

/**
 * The authorizers of a configuration that has been found right, in its order. Administrators come in whatever it says: a
 * server whose webhook refuses everything could not be mended otherwise.
 *
 * @throws AuthorizationError `InvalidConfiguration` for a type that the server has not been started with.
 */
export function composeAuthorizers({ authorizers }: AuthorizationConfiguration, parts: ComposeAuthorizersOptions): Authorizer {
  const chosen = authorizers.map(({ type, name, webhook }): Authorizer => {
    if (webhook !== undefined) {
      return createConditionalAuthorizer(parts.webhook(webhook, name), {
        conditions: compileMatchConditions(webhook.matchConditions, parts.conditions),
        onError: webhook.failurePolicy === 'Deny' ? 'deny' : 'noOpinion',
      })
    }
    const known = parts.byType.get(type)
    if (known !== undefined) return known
    const message = `authorizer type ${type} is not allowed if it was not enabled at initial server startup`
    throw new AuthorizationError({ code: 'InvalidConfiguration', message })
  })
  return createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), ...chosen])
}
