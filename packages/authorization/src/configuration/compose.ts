import { AuthorizationError } from '../authorization-error.ts'
import { createPrivilegedGroupsAuthorizer } from '../builtin-authorizers.ts'
import type { Authorizer } from '../interfaces.ts'
import { type AuthorizationMetrics, createInstrumentedAuthorizer } from '../metrics.ts'
import { createUnionAuthorizer } from '../union.ts'
import type {
  AuthorizationConfiguration,
  AuthorizationWebhook,
  AuthorizerConfiguration,
  MatchConditionCompiler,
} from './interfaces.ts'
import { createConditionalAuthorizer } from './match-conditions.ts'
import { compileMatchConditions } from './validate.ts'

export interface ComposeAuthorizersOptions {
  /** Authorizers other than webhooks, by type. */
  readonly byType: ReadonlyMap<string, Authorizer>
  /** Creates the authorizer of a webhook. Match conditions are evaluated before it is consulted. */
  readonly webhook: (webhook: AuthorizationWebhook, name: string) => Authorizer
  readonly conditions: MatchConditionCompiler
  readonly metrics?: AuthorizationMetrics
  /** Reasons begin with the name of their authorizer, as from 1.37 on. Default false. */
  readonly namesReasons?: boolean
}

/**
 * Composes the authorizers of a validated configuration in its order. `system:masters` is always allowed first, so that a
 * webhook that denies everything can be repaired.
 *
 * @throws AuthorizationError `InvalidConfiguration` for a type that was not enabled at startup.
 * @example
 * ```ts
 * import { alwaysDenyAuthorizer, createRbacAuthorizer } from '@krmkit/authorization'
 * import { composeAuthorizers, parseAuthorizationConfiguration } from '@krmkit/authorization/configuration'
 *
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' }
 * const configuration = parseAuthorizationConfiguration({ ...type, authorizers: [{ type: 'RBAC', name: 'rbac' }] })
 * const authorizer = composeAuthorizers(configuration, {
 *   byType: new Map([['RBAC', createRbacAuthorizer()]]),
 *   webhook: () => alwaysDenyAuthorizer,
 *   conditions: { compile: () => ({ problem: 'expressions are not supported' }) },
 * })
 * ```
 */
export function composeAuthorizers({ authorizers }: AuthorizationConfiguration, parts: ComposeAuthorizersOptions): Authorizer {
  const { metrics } = parts
  const create = ({ type, name, webhook }: AuthorizerConfiguration): Authorizer => {
    if (webhook !== undefined) {
      return createConditionalAuthorizer(parts.webhook(webhook, name), {
        conditions: compileMatchConditions(webhook.matchConditions, parts.conditions),
        onError: webhook.failurePolicy === 'Deny' ? 'deny' : 'noOpinion',
        ...(metrics === undefined ? {} : { onEvaluated: (outcome) => metrics.conditionsEvaluated(name, outcome) }),
      })
    }
    const known = parts.byType.get(type)
    if (known !== undefined) return known
    const message = `authorizer type ${type} is not allowed if it was not enabled at initial server startup`
    throw new AuthorizationError({ code: 'InvalidConfiguration', message })
  }
  const chosen = authorizers.map((configured) => {
    const { type, name } = configured
    const authorizer = create(configured)
    return metrics === undefined ? authorizer : createInstrumentedAuthorizer(authorizer, { type, name, metrics })
  })
  const names = ['kubernetes.io/system-privileged-group', ...authorizers.map(({ name }) => name)]
  return createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), ...chosen], parts.namesReasons === true ? names : undefined)
}

/** An authorizer that can be replaced while in use. */
export interface ReplaceableAuthorizer extends Authorizer {
  /** Uses `next` for all later requests; decisions in progress finish with the previous one. */
  replace(next: Authorizer): void
}

/**
 * Creates an authorizer that can be replaced while in use, as when a configuration file is reloaded.
 *
 * @example
 * ```ts
 * import { alwaysAllowAuthorizer, alwaysDenyAuthorizer } from '@krmkit/authorization'
 * import { createReplaceableAuthorizer } from '@krmkit/authorization/configuration'
 *
 * const authorizer = createReplaceableAuthorizer(alwaysDenyAuthorizer)
 * authorizer.replace(alwaysAllowAuthorizer) // later requests are allowed
 * ```
 */
export function createReplaceableAuthorizer(initial: Authorizer): ReplaceableAuthorizer {
  let current = initial
  return {
    authorize: (attributes) => current.authorize(attributes),
    async rulesFor(user, namespace) {
      const none = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
      return (await current.rulesFor?.(user, namespace)) ?? none
    },
    replace(next) {
      current = next
    },
  }
}
