import type { AdmissionAttributes, AdmissionContext } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject, Stored, WriteContext } from './interfaces.ts'
import { strategyContext } from './object-metadata.ts'
import { mayRemoveAfterUpdate } from './removal.ts'
import type { Writer } from './writer.ts'

/**
 * Updates that change nothing, as most applies of controllers: what was prepared, validated and encoded when it was stored needs
 * none of it again. Admission is asked as always.
 */

/** Whether writing the object as it is can do nothing: it was prepared and validated as a whole, by the rules that still hold. */
export function isSettled(writer: Writer, definition: ResourceDefinition, entry: Entry, current: FrozenObject): boolean {
  if (definition.strategy.comparesWithOld === true) return false
  return writer.objectCache.entryOf(entry).settledBy === definition && !mayRemoveAfterUpdate(definition, current, current)
}

/** The answer to an update that leaves a settled object as it is, after mutating admission left it so too. */
export async function keepUnchanged(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  kept: {
    readonly entry: Entry
    readonly current: FrozenObject
    readonly attributes: AdmissionAttributes
    readonly admission: AdmissionContext
  },
): Promise<Stored> {
  const { environment } = writer
  const { entry, current } = kept
  const policy = strategyContext(environment, context, definition)
  for (const text of definition.strategy.warnings?.(current as ApiObject, current, policy) ?? []) context.warn(text)
  const reservation = await environment.admission.validate(current, kept.attributes, kept.admission)
  await (context.dryRun ? reservation?.rollback() : reservation?.commit())
  return context.dryRun ? { object: current } : { object: current, entry }
}
