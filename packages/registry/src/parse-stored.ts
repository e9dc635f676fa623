import { internFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
import type { ApiObject } from '@krmkit/meta'
import { runInSlices, type SliceScheduler, Slices } from '@krmkit/meta/slices'
import { parseJson } from '@krmkit/schema'
import { parseJsonInSlices } from '@krmkit/schema/json'
import type { Entry } from '@krmkit/storage'
import { deepFreeze, freezeSteps } from './freeze.ts'
import type { FrozenObject } from './interfaces.ts'
import { isLarge } from './object-weight.ts'

/** Parses the stored form of objects. */

/** Most objects of a kind have equal field sets: they share one copy. */
export function parseStored(entry: Entry): FrozenObject {
  const object = parseJson(entry.value).value as ApiObject
  for (const owner of object.metadata?.managedFields ?? []) {
    if (owner.fieldsV1 !== undefined) owner.fieldsV1 = internFieldsV1(owner.fieldsV1)
  }
  return deepFreeze(object)
}

/** As `parseStored`, in time slices, for large entries. */
export async function parseStoredInSlices(entry: Entry, scheduler: SliceScheduler): Promise<FrozenObject> {
  const slices = new Slices(scheduler)
  await slices.next()
  const object = (await parseJsonInSlices(entry.value, {}, slices)).value as ApiObject
  for (const owner of object.metadata?.managedFields ?? []) {
    if (owner.fieldsV1 !== undefined && !isLarge(owner.fieldsV1)) owner.fieldsV1 = internFieldsV1(owner.fieldsV1)
  }
  return runInSlices(freezeSteps(object), slices)
}
