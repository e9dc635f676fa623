import { whenDone } from '@krmkit/base/work'
import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { WebhookLabels } from '../metrics.ts'
import { type WebhookCall, WebhookDispatcher } from './dispatcher.ts'
import { applyFailurePolicy } from './failure-policy.ts'
import { HookSource } from './hook-source.ts'
import type { HookTable, WebhookInvocation } from './hook-table.ts'
import { MatchConditionFilter } from './match-condition-filter.ts'
import type { WebhookOptions } from './options.ts'
import { SelectorMatcher } from './selector-matcher.ts'
import { type VersionedObjects, versionedObjects } from './versioned-objects.ts'

/**
 * The plugin that calls validating webhooks in parallel and waits for all of them. The first refusal to arrive refuses the request.
 *
 * @see API protocol specification, 2.8, 2.9 and 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { validatingWebhooks } from '@krmkit/admission/webhooks'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const url = 'https://hook.example.com/pods'
 * const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }]
 * const hook = { name: 'pods.example.com', clientConfig: { url }, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] }
 * const cluster = new ObjectSet()
 * const resource = 'validatingwebhookconfigurations'
 * const stored = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'pods' }, webhooks: [hook] }
 * cluster.put({ group: 'admissionregistration.k8s.io', resource }, { ...stored, kind: 'ValidatingWebhookConfiguration' })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { containers: [] } }
 * const inProcess = { [url]: () => ({ allowed: false, status: { message: 'app:1 is outdated' } }) }
 * const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }
 * const { status } = await admit({ ...pods, object }, [validatingWebhooks({ ...environment, inProcess })], cluster)
 * status?.message // 'admission webhook "pods.example.com" denied the request: app:1 is outdated'
 * ```
 */
export function validatingWebhooks(options: WebhookOptions): AdmissionPlugin {
  const source = new HookSource('validatingwebhookconfigurations', options)
  const webhooks = new ValidatingWebhooks(options)
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (target) => source.handles(target),
    validate(object, attributes, context) {
      const validateWith = (table: HookTable) => {
        const invocations = selectedInvocations(table, object, attributes, context)
        return invocations.length === 0 ? undefined : webhooks.validate(invocations, object, attributes, context)
      }
      return whenDone(source.table(attributes, context), validateWith)
    },
  }
}

/** The webhooks whose rules and selectors match; none for most requests. */
function selectedInvocations(
  table: HookTable,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): readonly WebhookInvocation[] {
  const invocations = table.invocations(attributes, context.versionConverter)
  if (invocations.length === 0) return invocations
  const selectors = new SelectorMatcher(attributes, context)
  return invocations.filter(({ hook }) => selectors.matches(hook, object))
}

interface LabeledCall extends WebhookCall {
  readonly labels: WebhookLabels
}

class ValidatingWebhooks {
  readonly #options: WebhookOptions
  readonly #dispatcher: WebhookDispatcher
  readonly #conditions: MatchConditionFilter

  constructor(options: WebhookOptions) {
    this.#options = options
    this.#dispatcher = new WebhookDispatcher('validating', options)
    this.#conditions = new MatchConditionFilter(options)
  }

  async validate(
    invocations: readonly WebhookInvocation[],
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<void> {
    const calls = await this.#matchingCalls(invocations, object, attributes, context)
    if (calls.length === 0) return
    if (context.bounds?.signal.aborted) throw ApiError.timeout('request did not complete within requested timeout')
    const refusals: unknown[] = []
    await Promise.all(calls.map((call, index) => this.#call(call, index).catch((error: unknown) => refusals.push(error))))
    if (refusals.length > 0) throw refusals[0]
  }

  /** The calls whose match conditions hold; objects are converted once for each version. */
  async #matchingCalls(
    invocations: readonly WebhookInvocation[],
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<readonly LabeledCall[]> {
    const byVersion = new Map<string, VersionedObjects>()
    const calls: LabeledCall[] = []
    for (const invocation of invocations) {
      const { hook, version } = invocation
      const key = `${version.kind.group}/${version.kind.version}`
      const versioned = byVersion.get(key) ?? (await versionedObjects(object, version, attributes, context))
      byVersion.set(key, versioned)
      const labels: WebhookLabels = { name: hook.name, type: 'validating', operation: attributes.operation }
      const call = { invocation, versioned, attributes, context, labels }
      if (await this.#conditions.matches(call, labels)) calls.push(call)
    }
    return calls
  }

  async #call(call: LabeledCall, index: number): Promise<void> {
    const { context, invocation, labels } = call
    const { clock, profile } = this.#options
    await applyFailurePolicy(call, labels, clock, {
      failedOpen(message) {
        const key = `failed-open.validating.webhook.admission.${profile.apiDomain}/round_0_index_${index}`
        context.annotate?.(key, invocation.hook.name)
        context.explain?.(`${message}; ignored by its failure policy`)
      },
      run: async () => {
        const outcome = await this.#dispatcher.dispatch(call)
        return outcome.kind === 'refused' ? outcome : { kind: 'allowed', value: undefined }
      },
    })
  }
}
