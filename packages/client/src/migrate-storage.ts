import { ApiError, type ApiObject } from '@krmkit/meta'
import type { Client, Draft, ResourceRef } from './interfaces.ts'

/** What became of the objects of a resource. */
export interface StorageMigration {
  /** Objects that were written anew. */
  readonly written: number
  /** Objects that somebody else wrote or removed meanwhile, which does as well. */
  readonly skipped: number
}

/**
 * Writes every object of a resource as it is, so that all are kept in the storage version of today. When it has resolved, older
 * versions can be taken out of `status.storedVersions` of a definition, and then out of the definition.
 *
 * Safe to run beside other writers, and to run again after a failure.
 *
 * @throws ApiError when an object cannot be read or written, for instance because its webhook fails.
 */
export async function migrateStorage<T extends ApiObject>(
  client: Client,
  resource: ResourceRef<T>,
  options: { readonly signal?: AbortSignal; readonly pageSize?: number } = {},
): Promise<StorageMigration> {
  const signal = options.signal === undefined ? {} : { signal: options.signal }
  let written = 0
  let skipped = 0
  for await (const { items } of client.listPages(resource, { limit: options.pageSize ?? 100, ...signal })) {
    for (const object of items) {
      try {
        await client.update(resource, object as unknown as Draft<T>, { fieldManager: 'storage-migration', ...signal })
        written++
      } catch (error) {
        if (!ApiError.is(error) || (error.reason !== 'Conflict' && error.reason !== 'NotFound')) throw error
        skipped++
      }
    }
  }
  return { written, skipped }
}
