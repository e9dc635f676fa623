import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { storageSuite } from '../testing/index.ts'
import { lmdbStorage } from './lmdb-storage.ts'

storageSuite(
  'durable',
  async (options) => {
    const dir = await mkdtemp(join(tmpdir(), 'krmkit-storage-'))
    const open = () => lmdbStorage({ ...options, dir })
    let storage = await open()
    return {
      storage,
      reopen: async () => {
        await storage.close()
        storage = await open()
        return storage
      },
      dispose: async () => {
        await storage.close()
        await rm(dir, { recursive: true, force: true })
      },
    }
  },
  { runner: { describe, it }, persistent: true },
)
