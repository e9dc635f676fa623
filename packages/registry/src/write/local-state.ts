import type { ObjectReader, ServedKind } from '@krmkit/admission'
import { ApiError, type ApiObject, type DeepReadonly, type GroupResource, type GroupVersionKind } from '@krmkit/meta'
import type { Entry, Storage } from '@krmkit/storage'

/**
 * Attempts to change a stored object from its local state, where the storage has other writers. Reading the newest state first would double
 * the requests to the storage. The write itself detects a local state that is out of date, which is rare. A refusal, or a result that needs
 * no write, is final only when the newest state has the same entry.
 *
 *     local entry --stored--> result
 *                 --refused, unchanged--> newest entry --the same--> that outcome
 *                                                      --another--> undefined: again, from there
 *                 --another writer was first--> undefined: again, from the newest entry
 *
 * @param attempt makes the change from the newest local entry; returns `undefined` when another writer was first. Throws an ApiError only
 * before it writes.
 * @returns `undefined` when the caller should attempt the change from the newest state: as drawn above, when nothing is stored, or, at
 * once, when the storage has no other writers.
 * @throws ApiError, StorageError
 */
export async function fromLocalState<T extends { readonly entry?: Entry }>(
  storage: Storage,
  key: string,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  if (storage.refresh === undefined) return undefined
  const entry = storage.peek(key)
  let outcome: { readonly result: T } | { readonly error: ApiError } | undefined
  if (entry !== undefined) {
    try {
      const result = await attempt()
      if (result === undefined || result.entry !== entry) return result
      outcome = { result }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      outcome = { error }
    }
  }
  await storage.refresh()
  if (outcome === undefined || storage.peek(key) !== entry) return undefined
  if ('error' in outcome) throw outcome.error
  return outcome.result
}

/**
 * Runs checks that depend on other objects. Where the storage has other writers, failed checks run once more if objects have changed in the
 * newest state.
 *
 * @throws ApiError, StorageError
 */
export async function fromNewestWhenRefused<T>(
  storage: Storage,
  check: () => Promise<T>,
  { mayBeStale = () => true }: { readonly mayBeStale?: () => boolean } = {},
): Promise<T> {
  const { revision } = storage
  try {
    return await check()
  } catch (error) {
    if (storage.refresh === undefined || !(error instanceof ApiError) || !mayBeStale()) throw error
    await storage.refresh()
    if (storage.revision === revision) throw error
    return check()
  }
}

/**
 * A reader that records whether a read found nothing: where the storage has other writers, the missing object may exist in the newest
 * state.
 */
export class TrackedReader implements ObjectReader {
  readonly #reader: ObjectReader
  hasMissed = false

  constructor(reader: ObjectReader) {
    this.#reader = reader
  }

  get(resource: GroupResource, namespace: string, name: string): DeepReadonly<ApiObject> | undefined {
    const found = this.#reader.get(resource, namespace, name)
    if (found === undefined) this.hasMissed = true
    return found
  }

  list(resource: GroupResource, namespace?: string): Promise<readonly DeepReadonly<ApiObject>[]> {
    return this.#reader.list(resource, namespace)
  }

  listNow(resource: GroupResource, namespace?: string): readonly DeepReadonly<ApiObject>[] | undefined {
    return this.#reader.listNow?.(resource, namespace)
  }

  resourcesOf(kind: GroupVersionKind): readonly ServedKind[] {
    return this.#reader.resourcesOf?.(kind) ?? []
  }
}
