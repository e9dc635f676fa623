import { afterAll, beforeAll, it } from 'vitest'
import { etcdStorage } from './etcd-storage.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'
import { etcdSuite } from './testing/etcd-suite.ts'

const program = etcdProgram()

if (program === undefined) it.skip(`storage in etcd: ${withoutEtcd}`)
else {
  let etcd: EtcdProcess
  beforeAll(async () => {
    etcd = await EtcdProcess.start(program)
  })
  afterAll(() => etcd.dispose())

  etcdSuite('etcd', (prefix, options) => etcdStorage({ ...options, endpoints: [etcd.url], prefix, compactionIntervalMs: 0 }), {
    timeoutMs: 30_000,
  })
}
