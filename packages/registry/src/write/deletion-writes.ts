import type { ApiObject } from '@krmkit/meta'
import { deepFreeze, freezeSteps } from '@krmkit/meta/work'
import type { Entry } from '@krmkit/storage'
import type { CachedObject, ObjectCache } from '../cache/object-cache.ts'
import type { DeleteResult, Stored } from '../interfaces.ts'
import type { StoredState, StoreInternals } from '../internals.ts'
import { frozen } from '../versions/canonical-form.ts'
import { ownMetadata } from './metadata.ts'
import { encodePrinted, printSteps } from './object-size.ts'
import { type Stages, stagesAfter } from './stages.ts'

/** The writes of a deletion: the mark of a terminating object, and its removal. */

/**
 * Removes an object after the update that emptied its finalizers. The change is not stored: watchers see the stored object at the
 * version of the deletion.
 *
 * @param last the updated object, which the response shows at the version before the deletion.
 * @returns `undefined` when another writer was first.
 */
export async function removeUpdated(
  store: StoreInternals,
  { last, current, entry, stages }: StoredState & { readonly last: ApiObject; readonly stages: Stages },
): Promise<Stored | undefined> {
  const removed = await removeEntry(store, entry, stages)
  if (removed === undefined) return undefined
  await store.allocations.removed(store.definition, last)
  const metadata = { ...last.metadata, resourceVersion: current.metadata.resourceVersion ?? '' }
  const shown = { ...last, metadata }
  return { object: await frozen(shown, stages) }
}

/** Deletes the entry of an object. @returns its last state, at the version of the deletion; `undefined` when another writer was first */
export async function removeEntry(
  { environment, objectCache }: StoreInternals,
  entry: Entry,
  stages: Stages,
): Promise<{ readonly object: ApiObject; readonly entry: Entry } | undefined> {
  const object = ownMetadata((await objectCache.parsed(entry)) as ApiObject)
  const memo = objectCache.newEntry(object)
  const encode = await encoder(object, memo, stages)
  const result = await environment.storage.delete(entry.key, encode, { expect: entry.revision, memo })
  if (result.outcome !== 'written') return undefined
  await keepWritten(objectCache, { memo, object, entry: result.entry, replaced: entry }, stages)
  return { object, entry: result.entry }
}

/** Encodes an object at the revision of its write, and caches it for the watchers, which read it before the write returns. */
async function encoder(object: ApiObject, memo: CachedObject, stages: Stages): Promise<(revision: number) => Uint8Array> {
  const printed = await stages?.run(printSteps(object))
  return (revision) => {
    object.metadata.resourceVersion = String(revision)
    // A revision of 0 is not the last one.
    memo.object = stages === undefined && revision !== 0 ? deepFreeze(object) : object
    return encodePrinted(object, printed)
  }
}

interface Written {
  readonly memo: CachedObject
  readonly object: ApiObject
  readonly entry: Entry
  readonly replaced: Entry
}

async function keepWritten(objectCache: ObjectCache, { memo, object, entry, replaced }: Written, stages: Stages): Promise<void> {
  objectCache.keep(memo, entry.value.byteLength, replaced)
  if (stages !== undefined) await stages.run(freezeSteps(object))
}

interface Mark {
  readonly entry: Entry
  readonly canonical: ApiObject
  readonly stages: Stages
}

/** Stores the mark. @returns `undefined` when another writer was first, or the object that is not removed yet. */
export async function markTerminating(
  store: StoreInternals,
  { entry, canonical, stages }: Mark,
): Promise<DeleteResult | undefined> {
  const { definition, environment, objectCache } = store
  const kept = definition.conversion === undefined ? canonical : await definition.conversion.write(canonical, { stored: true })
  const writing = kept === canonical ? stages : stagesAfter(store, stages, kept)
  const memo = objectCache.newEntry(kept)
  const encode = await encoder(kept, memo, writing)
  const result = await environment.storage.put(entry.key, encode, { expect: entry.revision, memo })
  if (result.outcome === 'conflict') return undefined
  await keepWritten(objectCache, { memo, object: kept, entry: result.entry, replaced: entry }, writing)
  return { object: await objectCache.read(definition, result.entry), entry: result.entry, removed: false }
}
