import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { deepFreeze, freezeSteps } from '@krmkit/meta/work'
import { normalize } from '@krmkit/schema'
import { dropEmpties, dropEmptiesSteps, normalizeSteps } from '@krmkit/schema/decode'
import { copyJson } from '@krmkit/schema/json'
import type { FrozenObject } from '../interfaces.ts'
import { type StoreInternals, storedType } from '../internals.ts'
import type { Stages } from '../write/stages.ts'
import { applyVersionDefaults } from './version-conversion.ts'

/** The form in which objects are stored and shown, made in slices where the object is large. */

/** Members in order, empty members as the stock server stores them. Unchanged parts are shared with `object`. */
export function canonicalForm(store: StoreInternals, object: ApiObject, stages: Stages): ApiObject | Promise<ApiObject> {
  const type = storedType(store)
  const { storageNormalizer } = store
  const { distinctEmpties = [] } = store.definition.strategy
  if (stages === undefined) {
    const complete = completed(store, object, dropEmpties(type, object, distinctEmpties))
    return storageNormalizer.normalize(type, normalize(type, complete)) as ApiObject
  }
  return stages.run(dropEmptiesSteps(type, object, distinctEmpties)).then(async (rest) => {
    const normal = await stages.run(normalizeSteps(type, completed(store, object, rest)))
    await stages.next()
    return storageNormalizer.normalize(type, normal)
  })
}

/** Applies the defaults again where empty values were dropped, because the stock server applies them to what it reads from storage. */
function completed(store: StoreInternals, object: ApiObject, rest: ApiObject): ApiObject {
  if (rest === object) return object
  const { group, resource } = store.definition.storage
  const stored = store.stored(group, resource) ?? store.definition
  return applyVersionDefaults(copyJson(rest), stored, store.environment)
}

/** Freezes an object that readers will share. */
export function frozen<T extends object>(object: T, stages: Stages): T | Promise<T> {
  return stages === undefined ? deepFreeze(object) : stages.run(freezeSteps(object))
}

/** What a dry run shows: the frozen object as it would come back from storage, where a webhook converts it to that version. */
export async function shownByDryRun(
  { conversion }: ResourceDefinition,
  object: ApiObject,
  stages: Stages,
): Promise<FrozenObject> {
  const asked = await frozen(object, stages)
  if (conversion === undefined) return asked
  const [shown] = await conversion.read([await frozen(await conversion.write(asked), stages)])
  return frozen(shown as ApiObject, stages)
}
