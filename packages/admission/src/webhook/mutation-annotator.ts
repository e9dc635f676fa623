import type { Work } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import * as paced from '@krmkit/schema/paced'
import type { AdmissionContext } from '../interfaces.ts'
import type { WebhookInvocation } from './hook-table.ts'

/** Records a mutating call in the audit annotations and the decision trace. */
export interface MutationAnnotator {
  /** The call has ended. */
  called(changed: boolean): void
  /** A patch was applied. Has pauses: patches may be large. */
  patched(operations: JsonValue): Work
  /** The call failed, and the failure policy is `Ignore`. */
  failedOpen(message: string): void
}

/** @see API protocol specification, 6 */
export function createMutationAnnotator(
  context: AdmissionContext,
  {
    apiDomain,
    round,
    invocation,
  }: { readonly apiDomain: string; readonly round: number; readonly invocation: WebhookInvocation },
): MutationAnnotator {
  const { hook, index } = invocation
  const { annotate, explain } = context
  const { configuration, name: webhook } = hook
  const suffix = `webhook.admission.${apiDomain}/round_${round}_index_${index}`
  return {
    called(changed) {
      annotate?.(`mutation.${suffix}`, stringifyJson({ configuration, webhook, mutated: changed }))
      if (changed) explain?.(`webhook ${webhook} of ${configuration} changed the object (round ${round}, index ${index})`)
    },
    patched(operations) {
      return annotatePatch(context, `patch.${suffix}`, { configuration, webhook, patch: operations, patchType: 'JSONPatch' })
    },
    failedOpen(message) {
      annotate?.(`failed-open.mutation.${suffix}`, webhook)
      explain?.(`${message}; ignored by its failure policy`)
    },
  }
}

function* annotatePatch({ annotate }: AdmissionContext, key: string, value: JsonObject): Work {
  if (annotate !== undefined) annotate(key, yield* paced.stringifyJson(value), 'Request')
}
