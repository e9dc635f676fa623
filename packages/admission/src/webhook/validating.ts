import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import { type Call, WebhookCaller } from './caller.ts'
import { HookConditions } from './conditions.ts'
import { HookSource } from './hook-source.ts'
import type { Candidate, HookTable } from './hook-table.ts'
import type { WebhookLabels } from './interfaces.ts'
import { show } from './mutating.ts'
import type { WebhookOptions } from './options.ts'
import { outcomeOf } from './outcome.ts'
import { Selection } from './selection.ts'

/**
 * Asks validating webhooks all at once and waits for all of them; the first refusal to arrive is the answer.
 *
 * @see API protocol specification, 2.8, 2.9 and 5.10
 */
export function validatingWebhooks(options: WebhookOptions): AdmissionPlugin {
  const source = new HookSource('validatingwebhookconfigurations', options.profile)
  const caller = new WebhookCaller('validating', options)
  const conditions = new HookConditions(options)
  const failedOpenPrefix = `failed-open.validating.webhook.admission.${options.profile.apiDomain}/`

  /** Those that rules and selectors choose; mostly none. */
  const selectedOf = (
    table: HookTable,
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): readonly Candidate[] => {
    const candidates = table.candidates(attributes, context.convertor)
    if (candidates.length === 0) return candidates
    const selection = new Selection(attributes, context)
    return candidates.filter(({ hook }) => selection.picks(hook, object))
  }

  const chosenCalls = async (
    candidates: readonly Candidate[],
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<readonly (Call & { readonly labels: WebhookLabels })[]> => {
    const shownAs = new Map<string, Call['shown']>()
    const calls = []
    for (const candidate of candidates) {
      const { form } = candidate
      const key = `${form.kind.group}/${form.kind.version}`
      let shown = shownAs.get(key)
      if (shown === undefined) {
        shown = {
          object: object === undefined ? null : await show(object, form, context),
          oldObject: attributes.oldObject === undefined ? null : await show(attributes.oldObject, form, context),
        }
        shownAs.set(key, shown)
      }
      const labels: WebhookLabels = { name: candidate.hook.name, type: 'validating', operation: attributes.operation }
      const call = { candidate, shown, attributes, context, labels }
      if (await conditions.hold(call, labels)) calls.push(call)
    }
    return calls
  }

  const ask = async (call: Call & { readonly labels: WebhookLabels }, index: number): Promise<void> => {
    const { context, candidate } = call
    await outcomeOf(call, call.labels, options.clock, {
      failedOpen(message) {
        context.annotate?.(`${failedOpenPrefix}round_0_index_${index}`, candidate.hook.name)
        context.explain?.(`${message}; its policy is to ignore that`)
      },
      ask: async () => {
        const outcome = await caller.call(call)
        return outcome.kind === 'refused' ? outcome : { kind: 'allowed', value: undefined }
      },
    })
  }

  const judge = async (
    candidates: readonly Candidate[],
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<void> => {
    const calls = await chosenCalls(candidates, object, attributes, context)
    if (calls.length === 0) return
    if (context.bounds?.signal.aborted) throw ApiError.timeout('request did not complete within requested timeout')
    const refusals: unknown[] = []
    await Promise.all(calls.map((call, index) => ask(call, index).catch((error: unknown) => refusals.push(error))))
    if (refusals.length > 0) throw refusals[0]
  }

  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (target) => !source.exempts(target),
    validate(object, attributes, context) {
      const chosen = (table: HookTable) => {
        const candidates = selectedOf(table, object, attributes, context)
        return candidates.length === 0 ? undefined : judge(candidates, object, attributes, context)
      }
      const table = source.table(context)
      return table instanceof Promise ? table.then(chosen) : chosen(table)
    },
  }
}
