import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { failureOf, formatEntries, formatEvents, put, remove, takeUntil } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { fork, memoryStorage } from './memory-storage.ts'

const contents = async (storage: Storage, at?: number) =>
  formatEntries((await storage.list({ prefix: '/', ...(at === undefined ? {} : { at }) })).entries)

describe('fork', () => {
  it('has the state and history of its original', async () => {
    const original = memoryStorage()
    await put(original, '/a/x', '1')
    await put(original, '/a/x', '2')
    await remove(original, '/a/x')
    await put(original, '/a/y', '3')
    const copy = fork(original)
    expect([copy.revision, copy.compacted]).toEqual([5, 1])
    expect(await contents(copy)).toEqual(['/a/y=3@5'])
    expect(await contents(copy, 3)).toEqual(['/a/x=2@3'])
    expect(copy.peek('/a/y')).toBe(original.peek('/a/y'))
    expect(formatEvents(await takeUntil(copy.watch({ prefix: '/a/', from: 2 }), 3))).toHaveLength(3)
  })

  it('is independent of its original', async () => {
    const original = memoryStorage()
    for (let n = 0; n < 3000; n++) await put(original, `/a/${n % 300}`, String(n))
    const before = await contents(original)
    const copy = fork(original)
    const [receivedHere, receivedThere] = [original, copy].map((storage) =>
      storage.watch({ prefix: '/', from: storage.revision }),
    )
    await put(original, '/a/1', 'here')
    await remove(copy, '/a/2')
    await put(copy, '/a/1', 'there')
    expect([original.revision, copy.revision]).toEqual([3002, 3003])
    expect([await contents(original, 3001), await contents(copy, 3001)]).toEqual([before, before])
    expect(formatEvents(receivedHere!.take())).toEqual(['put /a/1=here@3002'])
    expect(formatEvents(receivedThere!.take())).toEqual(['delete /a/2=last@3002', 'put /a/1=there@3003'])
    await original.compact(3002)
    expect(copy.compacted).toBe(1)
    await original.close()
    expect(await contents(copy, 3001)).toEqual(before)
    const again = fork(copy)
    expect(await contents(again)).toEqual(await contents(copy))
  })

  it('uses its own clock', async () => {
    const [here, there] = [fakeClock(0), fakeClock(0)]
    const original = memoryStorage({ clock: here })
    await put(original, '/a/x', '1')
    const copy = fork(original, { clock: there })
    const twin = fork(original)
    there.advance(11 * 60_000)
    expect([original.compacted, copy.compacted, twin.compacted]).toEqual([1, 2, 1])
    await copy.close()
    expect(there.pending).toBe(0)
    expect(here.pending).toBe(2)
    await twin.close()
    await original.close()
    expect(here.pending).toBe(0)
  })

  it('rejects closed stores and stores with a journal', async () => {
    const closed = memoryStorage()
    await closed.close()
    expect(await failureOf(() => fork(closed))).toEqual({ code: 'Closed' })
    await withTempDir(async (dir) => {
      const durable = await lmdbStorage({ dir })
      expect(() => fork(durable)).toThrow(TypeError)
      await durable.close()
    })
  })
})
