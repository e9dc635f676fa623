import type { ApiObject } from '@krmkit/meta'
import { normalize } from '@krmkit/schema'
import { normalizeSteps } from '@krmkit/schema/decode'
import { type StoreInternals, storedType } from './internals.ts'
import { deepFreeze, freezeSteps } from './object-cache.ts'
import type { Stages } from './stages.ts'

/** The form in which objects are stored and shown, made in slices where the object is large. */

/** Members in order, empty members as the stock server stores them. Unchanged parts are shared with `object`. */
export function canonicalForm(store: StoreInternals, object: ApiObject, stages: Stages): ApiObject | Promise<ApiObject> {
  const type = storedType(store)
  const { storageNormalizer } = store
  if (stages === undefined) return storageNormalizer.normalize(type, normalize(type, object)) as ApiObject
  return stages.run(normalizeSteps(type, object)).then(async (normal) => {
    await stages.next()
    return storageNormalizer.normalize(type, normal)
  })
}

/** Freezes an object that readers will share. */
export function frozen<T extends object>(object: T, stages: Stages): T | Promise<T> {
  return stages === undefined ? deepFreeze(object) : stages.run(freezeSteps(object))
}
