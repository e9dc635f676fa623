import { ApiError, type ApiObject } from '@krmkit/meta'
import type { Client, Draft, ResourceRef } from './interfaces.ts'

/** The number of migrated objects. */
export interface StorageMigration {
  /** Objects that were rewritten. */
  readonly written: number
  /** Objects that other clients changed or deleted meanwhile, which need no migration. */
  readonly skipped: number
}

/**
 * Rewrites every object of a resource without changes, so that all are stored in the current storage version. Afterwards older versions
 * can be removed from `status.storedVersions` of a custom resource definition, and then from the definition.
 *
 * Safe to run concurrently with other writers, and to repeat after a failure.
 *
 * @throws ApiError when an object cannot be read or written, for example because a webhook fails
 * @example
 * import { createRemoteClient, loadKubeconfig, migrateStorage, resourceType } from '@krmkit/client'
 * const Widget = resourceType({ group: 'shop.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })
 * const client = createRemoteClient(await loadKubeconfig())
 * const { written, skipped } = await migrateStorage(client, Widget)
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
