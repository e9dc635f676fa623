import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Compactor, compactionKey } from './compactor.ts'
import { EtcdClient } from './etcd-client.ts'
import { isCompacted } from './etcd-error.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'

const program = etcdProgram()

if (program === undefined) it.skip(`compaction of etcd: ${withoutEtcd}`)
else describe('compaction of etcd', () => compaction(program))

function compaction(program: string): void {
  let etcd: EtcdProcess
  let client: EtcdClient
  beforeAll(async () => {
    etcd = await EtcdProcess.start(program)
    client = new EtcdClient({ endpoints: [etcd.url] })
  })
  afterAll(async () => {
    client.close()
    await etcd.dispose()
  })
  const key = new TextEncoder().encode('/a')
  const put = (value: string) =>
    client.txn({ compare: [], success: [{ request_put: { key, value: new TextEncoder().encode(value) } }], failure: [] })
  const stored = async () => {
    const { kvs } = await client.range({ key: new TextEncoder().encode(compactionKey) })
    return { value: new TextDecoder().decode(kvs[0]?.value), version: kvs[0]?.version }
  }

  it('compacts to the revision of the previous tick, on one of several servers', async () => {
    const options = { client, intervalMs: 1000, onError: () => undefined }
    const [one, two] = [new Compactor(options), new Compactor(options)]
    expect(await one.tick()).toBeUndefined()
    expect(await stored()).toEqual({ value: '0', version: 1 })
    const { header } = await put('1')
    expect(await two.tick(), 'learns of the other').toBeUndefined()
    await put('2')
    const compacted = await one.tick()
    expect(compacted).toBeLessThan(header.revision)
    expect(await stored()).toEqual({ value: String(compacted), version: 2 })
    expect(await two.tick(), 'the other was first').toBeUndefined()
    await put('3')
    const later = await two.tick()
    expect(later).toBeGreaterThan(header.revision)
    expect(await one.tick()).toBeUndefined()
    await expect(client.range({ key, revision: header.revision })).rejects.toSatisfy(isCompacted)
  })
}
