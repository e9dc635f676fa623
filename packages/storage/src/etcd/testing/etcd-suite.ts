/** The tests of the contract for stores in etcd. */
import { describe, it } from 'vitest'
import type { Storage } from '../../interfaces.ts'
import type { StorageOptions } from '../../options.ts'
import type { CreateStore } from '../../testing/harness.ts'
import { storageSuite } from '../../testing/index.ts'

const assignedByEtcd = 'etcd assigns revisions, so encode runs before and after'
const orderedByEtcd = 'etcd orders writes to different keys'
const skips = {
  'calls encode once, synchronously, with the revision of the write': assignedByEtcd,
  'orders writes of one turn as they were called': orderedByEtcd,
  'restores distant states exactly in a long history of many keys': orderedByEtcd,
  'wakes a watcher once, on a later turn, for many writes in one turn': 'the events of one turn arrive over several',
}

/** Opens the store below a prefix, with the options of the suite. */
type Open = (prefix: string, options: StorageOptions) => Promise<Storage>

/** @param options.timeoutMs of each test, in milliseconds */
export function etcdSuite(
  name: string,
  open: Open,
  { timeoutMs, seeds }: { readonly timeoutMs: number; readonly seeds?: readonly number[] },
): void {
  const runner = { describe, it: (title: string, body: () => Promise<void>) => it(title, body, timeoutMs) }
  const common = { runner, persistent: true, keepsLastState: false, skips }
  storageSuite(name, createWith(open), seeds === undefined ? common : { ...common, seeds })
}

/** A store of the suite keeps its prefix when it is opened again. */
function createWith(open: Open): CreateStore {
  let count = 0
  return async (options) => {
    const prefix = `/store-${++count}`
    let storage = await open(prefix, options)
    return {
      storage,
      reopen: async () => {
        await storage.close()
        storage = await open(prefix, options)
        return storage
      },
      dispose: () => storage.close(),
    }
  }
}
