import { whenDone } from '@krmkit/base/work'
import type { Authorizer, Decision } from './interfaces.ts'

/** Outcome of an attempt to consult an authorization webhook; `error` covers unusable responses. */
export type WebhookEvaluationResult = 'success' | 'timeout' | 'error'

/** Records decisions and webhook evaluations, by the name of the authorizer in the configuration. */
export interface AuthorizationMetrics {
  /**
   * Returns the counters of an authorizer. Outcomes other than allow and deny are not counted, because they are not final.
   */
  decisions(type: string, name: string): DecisionCounters
  /** Records an attempt to call a webhook. */
  evaluated(name: string, outcome: { readonly result: WebhookEvaluationResult; readonly seconds: number }): void
  /** Records that a webhook failed and therefore has no opinion. */
  failedOpen(name: string, result: WebhookEvaluationResult): void
  /**
   * Records an evaluation of the match conditions of a webhook. `failed` means that at least one has an evaluation error.
   */
  conditionsEvaluated(
    name: string,
    outcome: { readonly seconds: number; readonly excluded: boolean; readonly failed: boolean },
  ): void
  /** Records that a changed configuration took effect or was rejected. @param timeMs in milliseconds since 1970 */
  reloaded(status: 'success' | 'failure', timeMs: number): void
}

export interface DecisionCounters {
  allowed(): void
  denied(): void
}

export interface InstrumentedAuthorizerOptions {
  /** `RBAC`, `Node`, `Webhook`, ... */
  readonly type: string
  /** Name in the configuration; {@link nameOfMode} for `--authorization-mode`. */
  readonly name: string
  readonly metrics: Pick<AuthorizationMetrics, 'decisions'>
}

/**
 * Counts the decisions of an authorizer.
 *
 * @example
 * ```ts
 * import { alwaysDenyAuthorizer, createInstrumentedAuthorizer, nameOfMode } from '@krmkit/authorization'
 *
 * let denied = 0
 * const decisions = () => ({ allowed: () => undefined, denied: () => void denied++ })
 * const authorizer = createInstrumentedAuthorizer(alwaysDenyAuthorizer, {
 *   type: 'AlwaysDeny',
 *   name: nameOfMode('AlwaysDeny'),
 *   metrics: { decisions },
 * })
 * ```
 */
export function createInstrumentedAuthorizer(inner: Authorizer, options: InstrumentedAuthorizerOptions): Authorizer {
  const counters = options.metrics.decisions(options.type, options.name)
  const count = (decision: Decision): Decision => {
    if (decision.decision === 'allow') counters.allowed()
    else if (decision.decision === 'deny') counters.denied()
    return decision
  }
  return {
    authorize: (attributes) => whenDone(inner.authorize(attributes), count),
    ...(inner.rulesFor === undefined ? {} : { rulesFor: (user, namespace) => inner.rulesFor!(user, namespace) }),
  }
}

/**
 * Returns the name of an authorizer that `--authorization-mode` configures: `default` for the webhook, else the mode in
 * lower case. See {@link createInstrumentedAuthorizer} for an example.
 */
export function nameOfMode(mode: string): string {
  return mode === 'Webhook' ? 'default' : mode.toLowerCase()
}
