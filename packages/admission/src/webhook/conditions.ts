import { ApiError } from '@krmkit/meta'
import type { Call } from './caller.ts'
import type { Hook } from './hook.ts'
import type { ConditionInput, ConditionVerdict, MatchConditions, WebhookLabels } from './interfaces.ts'
import type { WebhookOptions } from './options.ts'
import { requestFacts } from './review.ts'

type Compiled = ReturnType<MatchConditions['compile']>

/** The conditions of webhooks, compiled when they are asked for the first time. */
export class HookConditions {
  readonly #options: WebhookOptions
  readonly #compiled = new WeakMap<Hook, Compiled>()

  constructor(options: WebhookOptions) {
    this.#options = options
  }

  /**
   * Whether the webhook is to be called.
   *
   * @throws ApiError 403 when that cannot be found out and its failures are not to be ignored.
   */
  async hold(call: Call, labels: WebhookLabels): Promise<boolean> {
    const { candidate, shown, attributes, context } = call
    const { hook, form } = candidate
    if (hook.conditions.length === 0) return true
    const { before, after } = requestFacts(attributes, form, this.#options.profile)
    const request = { uid: '', ...before, ...after }
    const verdict = await this.#evaluate(hook, { attributes, ...shown, request })
    if (verdict.outcome === 'match') return true
    if (verdict.outcome === 'error' && hook.failurePolicy === 'Fail') {
      throw ApiError.forbidden(attributes.resource, attributes.name, verdict.message)
    }
    if (verdict.outcome === 'noMatch') context.metrics?.excluded(labels)
    return false
  }

  #evaluate(hook: Hook, input: ConditionInput): ConditionVerdict | Promise<ConditionVerdict> {
    let compiled = this.#compiled.get(hook)
    if (compiled === undefined) {
      compiled = this.#options.conditions?.compile(hook.conditions) ?? undecided
      this.#compiled.set(hook, compiled)
    }
    return compiled(input)
  }
}

const undecided: Compiled = () => ({ outcome: 'error', message: 'match conditions cannot be evaluated by this server' })
