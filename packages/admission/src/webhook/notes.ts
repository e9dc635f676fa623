import type { JsonValue } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import type { AdmissionContext } from '../interfaces.ts'
import type { Candidate } from './hook-table.ts'

/** What the audit trail and the decision trace are told of a mutating call. */
export interface MutationNotes {
  /** The call has ended. */
  called(changed: boolean): void
  /** A patch was applied. */
  patched(operations: JsonValue): void
  /** The call failed, which is ignored. */
  failedOpen(message: string): void
}

/** @see API protocol specification, 6 */
export function mutationNotes(
  context: AdmissionContext,
  { domain, round, candidate }: { readonly domain: string; readonly round: number; readonly candidate: Candidate },
): MutationNotes {
  const { hook, index } = candidate
  const { annotate, explain } = context
  const { configuration, name: webhook } = hook
  const place = `webhook.admission.${domain}/round_${round}_index_${index}`
  return {
    called(changed) {
      annotate?.(`mutation.${place}`, stringifyJson({ configuration, webhook, mutated: changed }))
      if (changed) explain?.(`webhook ${webhook} of ${configuration} changed it (round ${round}, index ${index})`)
    },
    patched(operations) {
      annotate?.(
        `patch.${place}`,
        stringifyJson({ configuration, webhook, patch: operations, patchType: 'JSONPatch' }),
        'Request',
      )
    },
    failedOpen(message) {
      annotate?.(`failed-open.mutation.${place}`, webhook)
      explain?.(`${message}; its policy is to ignore that`)
    },
  }
}
