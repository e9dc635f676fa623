import { ApiError } from '@krmkit/meta'
import type { WebhookLabels } from '../metrics.ts'
import type { WebhookCall } from './dispatcher.ts'
import type { Hook } from './hook.ts'
import type { ConditionInput, MatchConditionResult, MatchConditions } from './interfaces.ts'
import type { WebhookOptions } from './options.ts'
import { requestMembers } from './review.ts'

type Compiled = ReturnType<MatchConditions['compile']>

/** Evaluates the match conditions of webhooks; compiled on first use. */
export class MatchConditionFilter {
  readonly #options: WebhookOptions
  readonly #compiled = new WeakMap<Hook, Compiled>()

  constructor(options: WebhookOptions) {
    this.#options = options
  }

  /**
   * Whether the conditions match, so that the webhook must be called.
   *
   * @throws ApiError 403 when a condition fails to evaluate and the failure policy is `Fail`.
   */
  async matches(call: WebhookCall, labels: WebhookLabels): Promise<boolean> {
    const { invocation, versioned, attributes, context } = call
    const { hook, version } = invocation
    if (hook.conditions.length === 0) return true
    const { before, after } = requestMembers(attributes, version, this.#options.profile)
    const request = { uid: '', ...before, ...after }
    const { clock } = this.#options
    const startedAt = clock.now()
    const result = await this.#evaluate(hook, { attributes, ...versioned, request })
    const seconds = (clock.now() - startedAt) / 1000
    context.metrics?.webhooks.conditionsEvaluated(labels, { seconds, outcome: result.outcome })
    if (result.outcome === 'match') return true
    if (result.outcome === 'error' && hook.failurePolicy === 'Fail') {
      throw ApiError.forbidden(attributes.resource, attributes.name, result.message)
    }
    return false
  }

  #evaluate(hook: Hook, input: ConditionInput): MatchConditionResult | Promise<MatchConditionResult> {
    let compiled = this.#compiled.get(hook)
    if (compiled === undefined) {
      compiled = this.#options.conditions?.compile(hook.conditions) ?? unsupported
      this.#compiled.set(hook, compiled)
    }
    return compiled(input)
  }
}

const unsupported: Compiled = () => ({ outcome: 'error', message: 'match conditions cannot be evaluated by this server' })
