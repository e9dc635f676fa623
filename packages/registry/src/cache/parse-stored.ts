import { deepFreeze } from '@krmkit/base/freeze'
import * as pacedBase from '@krmkit/base/paced'
import { isLargeValue, Pace, runPaced, type Turns } from '@krmkit/base/work'
import { internFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
import type { ApiObject } from '@krmkit/meta'
import { parseJson } from '@krmkit/schema'
import { parseJsonInSlices } from '@krmkit/schema/json'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject } from '../interfaces.ts'

/** Parses the stored form of objects. */

export function parseStored(entry: Entry): FrozenObject {
  const object = parseJson(entry.value).value as ApiObject
  shareFieldSets(object)
  return deepFreeze(object)
}

/** Like `parseStored`, in slices, for large entries. */
export async function parseStoredInSlices(entry: Entry, turns: Turns): Promise<FrozenObject> {
  const pace = new Pace(turns)
  await pace.next()
  const object = (await parseJsonInSlices(entry.value, {}, pace)).value as ApiObject
  shareFieldSets(object)
  return runPaced(pacedBase.deepFreeze(object), pace)
}

/** Interns the field sets of an object, because most objects of a kind have equal ones. Large sets are not interned. */
function shareFieldSets({ metadata }: ApiObject): void {
  for (const owner of metadata?.managedFields ?? []) {
    if (owner.fieldsV1 !== undefined && !isLargeValue(owner.fieldsV1)) owner.fieldsV1 = internFieldsV1(owner.fieldsV1)
  }
}
