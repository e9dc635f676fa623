import { ApiError } from '@krmkit/meta'
import { Pace } from '@krmkit/meta/work'
import type { DeleteCollectionRequest, WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { listEntries } from '../read/list.ts'
import { deleteObject, validateDeleteOptions, warnOfPropagation } from './deletion.ts'

/** Deletions under way at a time. */
const maxWorkers = 16

/**
 * Deletes every object that the list selects when the request starts, each by the rules of a single deletion.
 *
 * @throws ApiError of the first deletion that fails
 */
export async function deleteCollection(
  store: StoreInternals,
  context: WriteContext,
  { options, ...listed }: DeleteCollectionRequest,
): Promise<void> {
  validateDeleteOptions(options, store.environment.profile)
  warnOfPropagation(store.definition, options, context)
  const { entries } = await listEntries(store, listed, context.signal)
  const pace = new Pace(store.turns)
  let next = 0
  const work = async (): Promise<void> => {
    for (let entry = entries[next++]; entry !== undefined; entry = entries[next++]) {
      const { name = '', namespace = '' } = store.objectCache.objectOf(entry).metadata
      try {
        await deleteObject(store, context, { namespace, name, options, collective: true })
      } catch (error) {
        // Deleted by another request since.
        if (!(ApiError.is(error) && error.reason === 'NotFound')) throw error
      }
      // Storage that answers at once would otherwise keep the event loop until the last deletion.
      if (pace.due(true)) await pace.next()
    }
  }
  // Few objects meet a precondition: they are deleted in order, up to the first that does not. Objects with a grace period may be written
  // twice; like on the stock server, watchers see both writes of one object before those of the next.
  const isInOrder = options.preconditions !== undefined || store.definition.strategy.gracePeriodSeconds !== undefined
  const workers = isInOrder ? 1 : maxWorkers
  await Promise.all(Array.from({ length: Math.min(workers, entries.length) }, work))
}
