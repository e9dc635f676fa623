import type { AdmissionAttributes, AdmissionContext } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject, Stored, WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { mayRemoveAfterUpdate } from './deletion.ts'
import { strategyContext } from './metadata.ts'

/**
 * Updates that change nothing, such as most applies of controllers. They run admission, but neither prepare, validate nor encode the
 * object again.
 */

/** Whether an unchanged object needs no preparation or validation: it was stored by the strategy that is still in force. */
export function isSettled(
  { definition, environment, objectCache }: StoreInternals,
  entry: Entry,
  current: FrozenObject,
): boolean {
  if (definition.strategy.comparesWithOld === true || environment.storage.isStale?.(entry) === true) return false
  return objectCache.entryOf(entry).settledBy === definition && !mayRemoveAfterUpdate(definition, current, current)
}

/** The result of an update that leaves a settled object unchanged, after mutating admission. */
export async function keepUnchanged(
  store: StoreInternals,
  context: WriteContext,
  kept: {
    readonly entry: Entry
    readonly current: FrozenObject
    readonly attributes: AdmissionAttributes
    readonly admission: AdmissionContext
  },
): Promise<Stored> {
  const { environment, definition } = store
  const { entry, current } = kept
  const about = strategyContext(store, context)
  for (const text of definition.strategy.warnings?.(current as ApiObject, current, about) ?? []) context.warn(text)
  const reservation = await environment.admission.validate(current, kept.attributes, kept.admission)
  await (context.dryRun ? reservation?.rollback() : reservation?.commit())
  return context.dryRun ? { object: current } : { object: current, entry }
}
