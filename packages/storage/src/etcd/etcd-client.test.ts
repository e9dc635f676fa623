import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EtcdClient, endOfKeyPrefix } from './etcd-client.ts'
import { isCompacted, isFuture, isRefusal } from './etcd-error.ts'
import { compareEqual, compareModRevision, deleteEventType, type WatchEvent } from './messages.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'

const program = etcdProgram()
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value)

if (program === undefined) it.skip(`the client of etcd: ${withoutEtcd}`)
else describe('the client of etcd', () => calls(program))

function calls(program: string): void {
  let etcd: EtcdProcess
  let client: EtcdClient
  beforeAll(async () => {
    etcd = await EtcdProcess.start(program)
    // The first endpoint does not exist.
    client = new EtcdClient({ endpoints: ['http://127.0.0.1:1', etcd.url], timeoutMs: 8000 })
  })
  afterAll(async () => {
    client.close()
    await etcd.dispose()
  })
  const put = async (key: string, value: string | Uint8Array, lease?: number) => {
    const request = { key: bytes(key), value: typeof value === 'string' ? bytes(value) : value, lease }
    return (await client.txn({ compare: [], success: [{ request_put: request }], failure: [] })).header.revision
  }
  const all = (prefix: string) => ({ key: bytes(prefix), range_end: endOfKeyPrefix(bytes(prefix)) })

  it('reads ranges with a limit, at a revision, as keys and as a count', async () => {
    const first = await put('/r/a', '1')
    await put('/r/b', '2')
    await put('/r/a', '3')
    const page = await client.range({ ...all('/r/'), limit: 1 })
    expect([page.more, page.count, page.kvs.map(({ value }) => text(value))]).toEqual([true, 2, ['3']])
    expect(page.kvs[0]).toMatchObject({ create_revision: first, version: 2 })
    expect((await client.range({ ...all('/r/'), revision: first })).kvs.map(({ value }) => text(value))).toEqual(['1'])
    const keys = await client.range({ ...all('/r/'), keys_only: true })
    expect(keys.kvs.map(({ key, value }) => [text(key), value.length])).toEqual([
      ['/r/a', 0],
      ['/r/b', 0],
    ])
    expect(await client.range({ ...all('/r/'), count_only: true })).toMatchObject({ count: 2, kvs: [] })
  })

  it('writes only when the condition holds, and else reads', async () => {
    const key = bytes('/t/a')
    const create = () =>
      client.txn({
        compare: [{ result: compareEqual, target: compareModRevision, key, mod_revision: 0 }],
        success: [{ request_put: { key, value: bytes('1') } }],
        failure: [{ request_range: { key } }],
      })
    expect((await create()).succeeded).toBe(true)
    const second = await create()
    expect(second.succeeded).toBe(false)
    expect(text(second.responses[0]?.response_range?.kvs[0]?.value)).toBe('1')
  })

  it('watches with previous values and progress, several watches in one stream, large responses in fragments', async () => {
    const from = await put('/w/a', '1')
    const stream = await client.watchStream()
    const events: WatchEvent[] = []
    const batches: number[] = []
    let progress = 0
    const sink = {
      events: (some: readonly WatchEvent[]) => {
        batches.push(some.length)
        events.push(...some)
      },
      progress: (revision: number) => {
        progress = revision
      },
      compacted: () => undefined,
      ended: () => undefined,
    }
    const large = new Uint8Array(1024 * 1024).fill(1)
    stream.create({ ...all('/w/'), start_revision: from, prev_kv: true, fragment: true }, sink)
    const others: string[] = []
    const other = stream.create(
      { ...all('/v/'), start_revision: from },
      { ...sink, events: (some) => others.push(...some.map(({ kv }) => text(kv.value))) },
    )
    await put('/w/a', '2')
    for (let n = 0; n < 4; n++) await put('/w/b', large)
    await put('/v/a', 'v')
    await client.txn({ compare: [], success: [{ request_delete_range: { key: bytes('/w/a') } }], failure: [] })
    await expect.poll(() => events.length).toBe(7)
    await expect.poll(() => others).toEqual(['v'])
    expect(text(events[1]?.prev_kv?.value)).toBe('1')
    expect(events[6]).toMatchObject({ type: deleteEventType })
    const { header } = await client.range({ key: bytes('/x') })
    await expect
      .poll(() => {
        stream.requestProgress()
        return progress
      })
      .toBeGreaterThanOrEqual(header.revision)
    stream.cancel(other)
    // A watch that starts late receives all events at once, which exceed one message.
    const late: number[] = []
    stream.create({ ...all('/w/'), start_revision: from, fragment: true }, { ...sink, events: (some) => late.push(some.length) })
    await expect.poll(() => late.reduce((sum, each) => sum + each, 0)).toBe(7)
    stream.close()
  })

  it('names the oldest revision when the start of a watch was compacted', async () => {
    await put('/c/a', '1')
    const revision = await put('/c/a', '2')
    await client.compact(revision)
    const stream = await client.watchStream()
    const oldest = await new Promise((resolve, reject) => {
      stream.create(
        { ...all('/c/'), start_revision: 1 },
        { events: () => undefined, progress: () => undefined, compacted: resolve, ended: reject },
      )
    })
    expect(oldest).toBe(revision)
    stream.close()
    await expect(client.range({ key: bytes('/c/a'), revision: revision - 1 })).rejects.toSatisfy(
      (error) => isCompacted(error) && isRefusal(error),
    )
    await expect(client.range({ key: bytes('/c/a'), revision: revision + 1000 })).rejects.toSatisfy(isFuture)
  })

  it('removes the keys of a lease that ends', async () => {
    const lease = await client.grantLease(4711, 60)
    await put('/l/a', '1', lease)
    expect((await client.range(all('/l/'))).kvs[0]?.lease).toBe(4711)
    await client.revokeLease(lease)
    expect((await client.range(all('/l/'))).count).toBe(0)
  })

  it('reports the version and size of a member, and streams its snapshot', async () => {
    const { version, dbSize, errors } = await client.status()
    expect(version).toMatch(/^3\./)
    expect([dbSize > 0, errors]).toEqual([true, []])
    let size = 0
    for await (const part of client.snapshot()) size += part.length
    // The database is followed by a checksum of 32 bytes.
    expect(size % 512).toBe(32)
  })

  it('fails before sending when no member can be reached', async () => {
    const alone = new EtcdClient({ endpoints: ['http://127.0.0.1:1'], timeoutMs: 300 })
    await expect(alone.txn({ compare: [], success: [], failure: [] })).rejects.toMatchObject({ unsent: true })
    alone.close()
  })
}
