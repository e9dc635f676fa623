import { paceOf } from '@krmkit/base/work'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { StoreInternals } from '../internals.ts'
import { collectionPrefix } from '../keys.ts'
import { canonicalForm } from '../versions/canonical-form.ts'
import { applyVersionDefaults } from '../versions/version-defaults.direct.ts'
import { isStoredAs, writeEntry } from './write-entry.ts'

/** The result of rewriting a collection. */
export interface Rewritten {
  /** Objects that were read. */
  readonly objects: number
  /** Objects that were written: their stored form differs from that of the definition. */
  readonly changed: number
}

/** Number of entries read at a time. */
const pageSize = 500

/**
 * Writes every object of a collection in the stored form of the definition: with the defaults of its version, and without members that its
 * type does not have. Neither admission nor validation runs, and the generation stays. Objects that already have that form are not written.
 */
export async function rewriteCollection(store: StoreInternals): Promise<Rewritten> {
  const { storage } = store.environment
  const prefix = collectionPrefix(store.definition)
  let [objects, changed] = [0, 0]
  let after: string | undefined
  while (true) {
    const { entries, remaining } = await storage.list({ prefix, limit: pageSize, ...(after === undefined ? {} : { after }) })
    for (const entry of entries) if (await rewriteEntry(store, entry)) changed++
    objects += entries.length
    after = entries.at(-1)?.key
    if (after === undefined || remaining === 0) return { objects, changed }
  }
}

/** @returns whether the entry was written. */
async function rewriteEntry(store: StoreInternals, entry: Entry): Promise<boolean> {
  let current: Entry | undefined = entry
  while (current !== undefined) {
    const object = structuredClone(store.objectCache.objectOf(current)) as ApiObject
    const defaulted = applyVersionDefaults(object, store.definition, store.environment)
    const pace = paceOf(store.turns, defaulted)
    const canonical = await canonicalForm(store, defaulted, pace)
    if (await isStoredAs(store, current, { object: canonical, pace })) return false
    const write = { key: current.key, object: canonical, replaced: current, isValidated: false, managesFields: true, pace }
    if ((await writeEntry(store, write)) !== undefined) return true
    // Another writer was first: try again from the newest entry.
    current = await store.environment.storage.get(current.key)
  }
  return false
}
