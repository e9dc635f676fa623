import { startWork, whenDone } from '@krmkit/base/work'
import { equalValues } from '@krmkit/fieldmanager/paced'
import type { ApiObject, JsonValue } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { WebhookLabels } from '../metrics.ts'
import { reinvocationState, scheduleReinvocation } from '../reinvocation.ts'
import { type WebhookCall, WebhookDispatcher } from './dispatcher.ts'
import { applyFailurePolicy } from './failure-policy.ts'
import { HookSource } from './hook-source.ts'
import type { HookTable, WebhookInvocation } from './hook-table.ts'
import { MatchConditionFilter } from './match-condition-filter.ts'
import { createMutationAnnotator } from './mutation-annotator.ts'
import type { WebhookOptions } from './options.ts'
import { applyWebhookPatch } from './patch.ts'
import { SelectorMatcher } from './selector-matcher.ts'
import { versionedObjects } from './versioned-objects.ts'

const pluginName = 'MutatingAdmissionWebhook'

/**
 * The plugin that calls mutating webhooks one after the other, sorted by configuration name. When one changes the object, all mutating
 * plugins run a second time, including the webhooks with the reinvocation policy `IfNeeded` that were called before a later change.
 *
 * @see API protocol specification, 2.8, 2.9 and 5.10
 * @see {@link validatingWebhooks} for an example: both plugins take the same options.
 */
export function mutatingWebhooks(options: WebhookOptions): AdmissionPlugin {
  const source = new HookSource('mutatingwebhookconfigurations', options)
  const webhooks = new MutatingWebhooks(source, options)
  return {
    name: pluginName,
    changes: 'whole',
    handles: (target) => source.handles(target),
    // DELETE and CONNECT have no object to mutate, but their webhooks are called.
    check(attributes, context, object) {
      const calling = object === undefined ? webhooks.admit(undefined, attributes, context) : undefined
      return whenDone(calling, () => undefined)
    },
    admit: (object, attributes, context) => webhooks.admit(object, attributes, context),
  }
}

class MutatingWebhooks {
  readonly #source: HookSource
  readonly #options: WebhookOptions
  readonly #dispatcher: WebhookDispatcher
  readonly #conditions: MatchConditionFilter

  constructor(source: HookSource, options: WebhookOptions) {
    this.#source = source
    this.#options = options
    this.#dispatcher = new WebhookDispatcher('admit', options)
    this.#conditions = new MatchConditionFilter(options)
  }

  /** Synchronous for requests that no webhook matches, which are most. */
  admit(
    object: ApiObject | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): ApiObject | undefined | Promise<ApiObject | undefined> {
    const admitWith = (table: HookTable) => {
      const invocations = table.invocations(attributes, context.versionConverter)
      if (invocations.length === 0) return object
      const selectors = new SelectorMatcher(attributes, context)
      return invocations.some(({ hook }) => selectors.matches(hook, object))
        ? this.#callAll(invocations, object, attributes, context)
        : object
    }
    return whenDone(this.#source.table(attributes, context), admitWith)
  }

  async #callAll(
    invocations: readonly WebhookInvocation[],
    object: ApiObject | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<ApiObject | undefined> {
    const state = reinvocationState(context, pluginName)
    const round = context.reinvocation?.round ?? 0
    if (round > 0) {
      const comparing = equalValues(state.lastOutput as unknown as JsonValue, object as unknown as JsonValue)
      if (!(await startWork(comparing, this.#dispatcher.turns))) scheduleReinvocation(state)
    }
    const selectors = new SelectorMatcher(attributes, context)
    let current = object
    for (const invocation of invocations) {
      const { hook, version } = invocation
      if (!selectors.matches(hook, current)) continue
      const versioned = await versionedObjects(current, version, attributes, context)
      const call = { invocation, versioned, attributes, context }
      const labels: WebhookLabels = { name: hook.name, type: 'admit', operation: attributes.operation }
      if (!(await this.#conditions.matches(call, labels))) continue
      if (round > 0 && !state.reinvoke.has(hook.uid)) continue
      const changed = await this.#callOne(call, labels, round)
      if (changed !== undefined) {
        current = changed
        scheduleReinvocation(state)
        context.reinvocation?.requestReinvocation()
      }
      if (hook.reinvocable) state.invoked.add(hook.uid)
    }
    state.lastOutput = current
    return current
  }

  /** @returns the changed object; undefined when the webhook changed nothing or its failure was ignored. */
  #callOne(call: WebhookCall, labels: WebhookLabels, round: number): Promise<ApiObject | undefined> {
    const { clock, profile, features } = this.#options
    const { invocation, context } = call
    const annotator = createMutationAnnotator(context, { apiDomain: profile.apiDomain, round, invocation })
    return applyFailurePolicy<ApiObject | undefined>(call, labels, clock, {
      failedOpen: annotator.failedOpen,
      run: async () => {
        let changed: ApiObject | undefined
        try {
          const outcome = await this.#dispatcher.dispatch(call)
          if (outcome.kind === 'refused') return outcome
          changed = await applyWebhookPatch(call, outcome.response, { annotator, features, turns: this.#dispatcher.turns })
        } finally {
          annotator.called(changed !== undefined)
        }
        return { kind: 'allowed', value: changed }
      },
    })
  }
}
