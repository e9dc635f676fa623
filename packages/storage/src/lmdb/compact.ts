import { rmSync } from 'node:fs'
import { keptTransformer } from '../value-transformer.ts'
import { checkDataDir } from './data-dir.ts'
import { LmdbJournal } from './lmdb-journal.ts'
import { copyDirOf, finishReplacement, replaceDir } from './replace-dir.ts'
import { type LmdbProgress, withSnapshot } from './store-reader.ts'
import { createStore } from './store-writer.ts'

export interface LmdbCompactOptions {
  /** Directory of the store, which must not be in use. */
  readonly dir: string
  readonly onProgress?: (progress: LmdbProgress) => void
}

/**
 * Returns the free space of a store to the disk: copies its records to a new store, which then replaces it. Until then, the old store is
 * unchanged; the disk must have room for both. Objects, revisions and the event window are kept.
 *
 * @throws StorageError `Unavailable`: `locked` when the store is in use, `corrupt` when a record is damaged, `foreign` or `access`
 * @example
 * import { compactLmdb } from '@krmkit/storage'
 * await compactLmdb({ dir: '.krmkit/data' })
 */
export async function compactLmdb({ dir, onProgress }: LmdbCompactOptions): Promise<void> {
  finishReplacement(dir)
  checkDataDir(dir)
  // Keeps the store locked during the copy, so that no server can start and make writes that the copy would miss.
  const lock = await LmdbJournal.open(dir, keptTransformer)
  let former: string
  try {
    lock.load()
    await withSnapshot(dir, (snapshot) =>
      createStore(copyDirOf(dir), async (writer) => {
        for await (const { revision, bytes } of snapshot.records(onProgress)) await writer.add(revision, bytes)
        return snapshot.compacted
      }),
    )
    former = replaceDir(dir)
  } finally {
    await lock.close()
  }
  rmSync(former, { recursive: true, force: true })
}
