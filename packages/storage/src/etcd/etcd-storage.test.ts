import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { storageSuite } from '../testing/index.ts'
import { etcdStorage } from './etcd-storage.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'

const program = etcdProgram()

const assignedByEtcd = 'etcd assigns revisions, so encode runs before and after'
const orderedByEtcd = 'etcd orders writes to different keys'
const skips = {
  'calls encode once, synchronously, with the revision of the write': assignedByEtcd,
  'orders writes of one turn as they were called': orderedByEtcd,
  'restores distant states exactly in a long history of many keys': orderedByEtcd,
  'wakes a watcher once, on a later turn, for many writes in one turn': 'the events of one turn arrive over several',
}

if (program === undefined) it.skip(`storage in etcd: ${withoutEtcd}`)
else {
  let etcd: EtcdProcess
  beforeAll(async () => {
    etcd = await EtcdProcess.start(program)
  }, 30_000)
  afterAll(() => etcd.dispose())

  let count = 0
  const open = (prefix: string, options = {}): Promise<Storage> =>
    etcdStorage({ ...options, endpoints: [etcd.url], prefix, compactionIntervalMs: 0 })

  storageSuite(
    'etcd',
    async (options) => {
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
    },
    { runner: { describe, it: (name, body) => it(name, body, 30_000) }, persistent: true, keepsLastState: false, skips },
  )
}
