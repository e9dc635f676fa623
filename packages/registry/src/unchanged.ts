import type { AdmissionAttributes, AdmissionContext } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import { mayRemoveAfterUpdate } from './deletion.ts'
import type { FrozenObject, Stored, WriteContext } from './interfaces.ts'
import type { StoreInternals } from './internals.ts'
import { strategyContext } from './object-metadata.ts'

/**
 * Updates that change nothing, as most applies of controllers: what was prepared, validated and encoded when it was stored needs
 * none of it again. Admission is asked as always.
 */

/** Whether writing the object as it is can do nothing: it was prepared and validated as a whole, by the rules that still hold. */
export function isSettled({ definition, objectCache }: StoreInternals, entry: Entry, current: FrozenObject): boolean {
  if (definition.strategy.comparesWithOld === true) return false
  return objectCache.entryOf(entry).settledBy === definition && !mayRemoveAfterUpdate(definition, current, current)
}

/** The answer to an update that leaves a settled object as it is, after mutating admission left it so too. */
export async function keepUnchanged(
  { environment, definition }: StoreInternals,
  context: WriteContext,
  kept: {
    readonly entry: Entry
    readonly current: FrozenObject
    readonly attributes: AdmissionAttributes
    readonly admission: AdmissionContext
  },
): Promise<Stored> {
  const { entry, current } = kept
  const about = strategyContext(environment, context, definition)
  for (const text of definition.strategy.warnings?.(current as ApiObject, current, about) ?? []) context.warn(text)
  const settle = await environment.admission.validate(current, kept.attributes, kept.admission)
  await settle?.(!context.dryRun)
  return context.dryRun ? { object: current } : { object: current, entry }
}
