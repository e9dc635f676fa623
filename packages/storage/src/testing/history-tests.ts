import assert from 'node:assert/strict'
import { failureOf, formatEntries, formatEvents, put, read, remove, type StoreTest, takeUntil, text } from './harness.ts'

const minuteMs = 60_000

/** Tests of the history window. */
export function historyTests(test: StoreTest): void {
  test('follows the worked history of the contract', async ({ storage }) => {
    const start = storage.revision
    const first = await put(storage, '/a/x', 'v1')
    const second = await put(storage, '/a/x', 'v2')
    const last = await remove(storage, '/a/x', 'v2')
    assert.equal(await storage.get('/a/x'), undefined)
    assert.equal(await storage.get('/a/x', { at: second.revision }), second)
    const watcher = storage.watch({ prefix: '/a/x', from: first.revision })
    assert.deepEqual(formatEvents(await takeUntil(watcher, 2)), [`put /a/x=v2@${start + 2}`, `delete /a/x=v2@${start + 3}`])
    watcher.close()
    await storage.compact(second.revision)
    assert.equal(storage.compacted, second.revision)
    const tooOld = { code: 'Compacted', requested: first.revision, compacted: second.revision, current: last.revision }
    assert.deepEqual(await failureOf(() => storage.get('/a/x', { at: first.revision })), tooOld)
    assert.deepEqual(await failureOf(() => storage.watch({ prefix: '/a/', from: first.revision })), tooOld)
    assert.equal(await storage.get('/a/x', { at: second.revision }), second)
    const later = storage.watch({ prefix: '/a/', from: second.revision })
    assert.deepEqual(formatEvents(await takeUntil(later, 1)), [`delete /a/x=v2@${start + 3}`])
    later.close()
  })

  test('rejects a list at a compacted revision, with the bounds of the window [P316]', async ({ storage }) => {
    await put(storage, '/a/x', '1')
    const { revision } = await put(storage, '/a/x', '2')
    await put(storage, '/a/x', '3')
    await storage.compact(revision)
    const expected = { code: 'Compacted', requested: revision - 1, compacted: revision, current: revision + 1 }
    assert.deepEqual(await failureOf(() => storage.list({ prefix: '/a/', at: revision - 1 })), expected)
    assert.deepEqual(formatEntries((await storage.list({ prefix: '/a/', at: revision })).entries), [`/a/x=2@${revision}`])
  })

  test('keeps the newest state on compaction, and never moves the window back', async ({ storage }) => {
    for (let n = 0; n < 50; n++) await put(storage, `/a/${n % 20}`, String(n))
    await storage.compact(storage.revision)
    assert.equal(storage.compacted, storage.revision)
    assert.equal((await storage.list({ prefix: '/a/' })).entries.length, 20)
    assert.equal(read(await storage.get('/a/19', { at: storage.revision })), '39')
    await storage.compact(storage.revision - 10)
    assert.equal(storage.compacted, storage.revision)
  })

  test('watches from a revision for 5 minutes after the next one, and not longer [P323]', async ({ storage, clock }) => {
    const { revision } = await put(storage, '/a/x', '1')
    clock.advance(30 * minuteMs)
    storage.watch({ prefix: '/a/', from: revision }).close()
    await put(storage, '/a/x', '2')
    clock.advance(5 * minuteMs - 1)
    const watcher = storage.watch({ prefix: '/a/', from: revision })
    assert.equal((await takeUntil(watcher, 1)).length, 1)
    watcher.close()
    clock.advance(minuteMs)
    const failure = await failureOf(() => storage.watch({ prefix: '/a/', from: revision }))
    assert.deepEqual(failure, { code: 'Compacted', requested: revision, compacted: revision + 1, current: revision + 1 })
  })

  test('reads the next page for 5 minutes after the first, and not longer [P324]', async ({ storage, clock }) => {
    for (const name of ['a', 'b', 'c']) await put(storage, `/a/${name}`, '1')
    const first = await storage.list({ prefix: '/a/', limit: 1 })
    await put(storage, '/a/b', '2')
    clock.advance(4 * minuteMs)
    await put(storage, '/a/c', '2')
    clock.advance(minuteMs - 1)
    const next = { prefix: '/a/', limit: 1, after: '/a/a', at: first.revision }
    assert.equal(read((await storage.list(next)).entries[0]), '1')
    clock.advance(minuteMs)
    assert.equal((await failureOf(() => storage.list(next))).code, 'Compacted')
  })

  test(
    'keeps history for the configured time',
    async ({ storage, clock }) => {
      const { revision } = await put(storage, '/a/x', '1')
      await put(storage, '/a/x', '2')
      clock.advance(1999)
      assert.equal(read(await storage.get('/a/x', { at: revision })), '1')
      clock.advance(2000)
      assert.equal((await failureOf(() => storage.get('/a/x', { at: revision }))).code, 'Compacted')
    },
    { historyMs: 2000 },
  )

  test('drops history in steps, never what is newer than the window', async ({ storage, clock }) => {
    const start = storage.revision
    for (let minute = 0; minute < 20; minute++) {
      await put(storage, '/a/x', String(minute))
      clock.advance(minuteMs)
      assert.equal(
        read(await storage.get('/a/x', { at: Math.max(start + 1, storage.revision - 4) })),
        String(Math.max(0, minute - 4)),
      )
    }
    assert.ok(storage.compacted >= storage.revision - 6)
  })

  test(
    'drops the oldest history above the byte limit, once it has the minimum age',
    async ({ storage, clock }) => {
      const { revision } = await put(storage, '/a/x', '1')
      for (let n = 0; n < 10; n++) await storage.put('/a/x', () => new Uint8Array(1024 * 1024))
      assert.equal(read(await storage.get('/a/x', { at: revision })), '1', 'younger than the minimum')
      clock.advance(3000)
      for (let n = 0; n < 3; n++) await storage.put('/a/x', () => new Uint8Array(1024 * 1024))
      assert.equal((await failureOf(() => storage.get('/a/x', { at: revision }))).code, 'Compacted')
      assert.equal((await storage.get('/a/x', { at: storage.revision - 2 }))?.value.length, 1024 * 1024)
    },
    { historyBytes: 4 * 1024 * 1024, minHistoryMs: 3000 },
  )

  test('restores distant states exactly in a long history of many keys', async ({ storage }) => {
    const start = storage.revision
    const expected: string[][] = [[]]
    const state = new Map<string, string>()
    for (let n = 1; n <= 6000; n++) {
      const key = `/a/${(n * 7919) % 97}`
      const isDelete = n % 5 === 0 && state.has(key)
      if (isDelete) state.delete(key)
      else state.set(key, `${key}=${n}@${start + n}`)
      const writing = isDelete ? storage.delete(key, text(String(n))) : storage.put(key, text(String(n)))
      if (n % 100 === 0) await writing
      expected.push(n % 211 === 0 ? [...state].sort().map(([, shown]) => shown) : [])
    }
    for (let n = 211; n <= 6000; n += 211) {
      const { entries } = await storage.list({ prefix: '/a/', at: start + n })
      assert.deepEqual(formatEntries(entries), expected[n], `at ${n}`)
    }
  })
}
