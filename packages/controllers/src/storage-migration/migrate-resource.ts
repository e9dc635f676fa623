import type { Client, ResourceType } from '@krmkit/client'
import { ignoreReasons } from '../framework/api-errors.ts'

/** The progress of a migration. */
export interface MigrationProgress {
  /** Number of processed objects: written, or skipped because another client has deleted or written them since the list. */
  readonly migrated: number
  /** Number of objects not listed yet; undefined when the server does not report it. */
  readonly remaining: number | undefined
  /** resourceVersion of the list. */
  readonly resourceVersion: string
}

export interface MigrationOptions {
  readonly signal: AbortSignal
  readonly fieldManager: string
  /** Called after each page of objects. */
  readonly onProgress?: (progress: MigrationProgress) => void | Promise<void>
}

/** Number of objects in a page. */
const pageSize = 500

/**
 * Writes every object of a resource without changing it, so that the server stores it in the current storage version.
 * Objects that other clients write or delete meanwhile are skipped.
 *
 * @param metadata client whose responses hold only metadata
 * @throws ApiError for a rejected list or write.
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { migrateResource } from '@krmkit/controllers'
 * import { createMetadataClient } from '@krmkit/controllers/framework'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 * const client = createRemoteClient(await loadKubeconfig())
 * const metadata = createMetadataClient(client, { clock: systemClock, random: systemRandom, profile: stockProfile })
 * const widgets = { group: 'shop.example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true }
 * const { signal } = new AbortController()
 * const { migrated } = await migrateResource({ client, metadata }, widgets, { signal, fieldManager: 'migrator' })
 */
export async function migrateResource(
  { client, metadata }: { readonly client: Client; readonly metadata: Client },
  resource: ResourceType,
  { signal, fieldManager, onProgress }: MigrationOptions,
): Promise<MigrationProgress> {
  let progress: MigrationProgress = { migrated: 0, remaining: undefined, resourceVersion: '' }
  for await (const { items, metadata: list } of metadata.listPages(resource, { limit: pageSize, signal })) {
    for (const { metadata: found } of items) {
      const { name = '', namespace, uid = '', resourceVersion = '' } = found
      const patch = { metadata: { uid, resourceVersion } }
      const where = namespace === undefined ? {} : { namespace }
      const write = client.patch(resource, name, { ...where, type: 'merge', patch, fieldManager, signal })
      await ignoreReasons(write, ['NotFound', 'Conflict'])
    }
    const { remainingItemCount, resourceVersion = '' } = list
    progress = {
      migrated: progress.migrated + items.length,
      remaining: remainingItemCount,
      resourceVersion: progress.resourceVersion === '' ? resourceVersion : progress.resourceVersion,
    }
    await onProgress?.(progress)
  }
  return progress
}
