import { afterAll, beforeAll, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { etcdStorage } from './etcd-storage.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'
import { etcdSuite } from './testing/etcd-suite.ts'

const program = etcdProgram()

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

  etcdSuite(
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
    { timeoutMs: 30_000 },
  )
}
