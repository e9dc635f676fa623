import type { HistoryBackend } from './backend.ts'
import { openEtcd } from './etcd.ts'
import { openFollower } from './follower.ts'
import { type LmdbHistoryOptions, openLmdb } from './lmdb.ts'
import { openMemory } from './memory.ts'

/** By name; a text is the reason why a backend cannot be opened here. */
export const backends: Readonly<Record<string, (process: LmdbHistoryOptions) => Promise<HistoryBackend | string>>> = {
  memory: openMemory,
  lmdb: openLmdb,
  follower: openFollower,
  etcd: openEtcd,
}
