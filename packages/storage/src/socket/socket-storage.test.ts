import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { memoryStorage } from '../memory/memory-storage.ts'
import type { StorageOptions } from '../options.ts'
import { type CreateStore, storageSuite } from '../testing/index.ts'
import { serveStorage } from './serve-storage.ts'
import { socketStorage } from './socket-storage.ts'

const assignedThere = 'the served store assigns revisions, so encode runs before and after'
const orderedThere = 'writes to different keys are ordered by the served store'
const skips = {
  'calls encode once, synchronously, with the revision of the write': assignedThere,
  'orders writes of one turn as they were called': orderedThere,
  'restores distant states exactly in a long history of many keys': orderedThere,
  'wakes a watcher once, on a later turn, for many writes in one turn': 'the events of one turn arrive over several',
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-socket-'))
})
afterAll(() => rm(folder, { recursive: true }))

let count = 0

/** Declares the suite for a follower of a store in the same process. */
function followerSuite(
  name: string,
  openOwner: (options: StorageOptions, dir: string) => Storage | Promise<Storage>,
  { persistent }: { readonly persistent: boolean },
): void {
  const createStore: CreateStore = async (options) => {
    const own = join(folder, `${++count}`)
    const open = async () => {
      const owner = await openOwner(options, own)
      const path = `${own}.sock`
      const served = await serveStorage(owner, { path })
      const storage: Storage = await socketStorage({ ...options, path })
      return {
        storage,
        async close() {
          await storage.close()
          await served.close()
          await owner.close()
        },
      }
    }
    let opened = await open()
    const reopen = async () => {
      await opened.close()
      opened = await open()
      return opened.storage
    }
    return { storage: opened.storage, ...(persistent ? { reopen } : {}), dispose: () => opened.close() }
  }
  const runner = { describe, it: (title: string, body: () => Promise<void>) => it(title, body, 30_000) }
  storageSuite(name, createStore, { runner, persistent, keepsLastState: false, skips })
}

followerSuite('followed durable', (options, dir) => lmdbStorage({ ...options, dir }), { persistent: true })
followerSuite('followed memory', (options) => memoryStorage(options), { persistent: false })
