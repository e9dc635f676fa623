import assert from 'node:assert/strict'
import { failureOf, formatEntries, formatEvents, put, read, remove, type StoreTest, takeUntil, text } from './harness.ts'

/** Tests of closing a store, and of reopening one that persists. */
export function lifecycleTests(test: StoreTest, options: { persistent: boolean }): void {
  test('rejects all calls on a closed store', async ({ storage }) => {
    const from = storage.revision
    const waiting = storage.waitFor(from + 1, new AbortController().signal)
    const refused = failureOf(() => waiting)
    await storage.close()
    await storage.close()
    await storage[Symbol.asyncDispose]()
    assert.deepEqual(await refused, { code: 'Closed' })
    const calls = [
      () => storage.get('/a/x'),
      () => storage.peek('/a/x'),
      () => storage.list({ prefix: '/a/' }),
      () => storage.count('/a/'),
      () => storage.put('/a/x', text('1')),
      () => storage.delete('/a/x', text('1')),
      () => storage.watch({ prefix: '/a/', from }),
      () => storage.waitFor(from, new AbortController().signal),
      () => storage.compact(from),
    ]
    for (const call of calls) assert.deepEqual(await failureOf(call), { code: 'Closed' })
  })

  test('waits for ordered writes when closing', async ({ storage }) => {
    const writes = Promise.all(Array.from({ length: 10 }, (_, n) => storage.put(`/a/${n}`, text(''))))
    await storage.close()
    assert.deepEqual(
      (await writes).map(({ outcome }) => outcome),
      Array.from({ length: 10 }, () => 'written'),
    )
  })

  if (!options.persistent) return

  test('restores entries, revisions and history after a restart (Durable)', async ({ storage, reopen, lastState }) => {
    const start = storage.revision
    const last = lastState('last', '2')
    await put(storage, '/a/x', '1')
    await put(storage, '/a/x', '2')
    await put(storage, '/b/\u754c\u{1f600}', '3')
    await remove(storage, '/a/x', last)
    await put(storage, '/a/y', '4')
    const again = await reopen!()
    assert.equal(again.revision, start + 5)
    assert.ok(again.compacted <= start)
    const all = await again.list({ prefix: '/' })
    assert.deepEqual(formatEntries(all.entries), [`/a/y=4@${start + 5}`, `/b/\u754c\u{1f600}=3@${start + 3}`])
    assert.deepEqual(formatEntries((await again.list({ prefix: '/a/', at: start + 1 })).entries), [`/a/x=1@${start + 1}`])
    const watcher = again.watch({ prefix: '/a/', from: start })
    const events = await takeUntil(watcher, 4)
    assert.deepEqual(formatEvents(events), [
      `put /a/x=1@${start + 1}`,
      `put /a/x=2@${start + 2}`,
      `delete /a/x=${last}@${start + 4}`,
      `put /a/y=4@${start + 5}`,
    ])
    assert.equal(events[1]?.previous, events[0]?.entry)
    assert.equal(events[2]?.previous, events[1]?.entry)
    assert.deepEqual([events[1]?.entry.created, events[2]?.entry.created], [start + 1, start + 1])
    watcher.close()
    assert.equal((await put(again, '/a/z', '5')).revision, start + 6)
  })

  test('continues pages and watches across a restart (Durable)', async ({ storage, reopen }) => {
    for (let n = 0; n < 10; n++) await put(storage, `/a/${n}`, 'old')
    const first = await storage.list({ prefix: '/a/', limit: 4 })
    await put(storage, '/a/7', 'new')
    const again = await reopen!()
    const rest = await again.list({ prefix: '/a/', after: '/a/3', at: first.revision })
    assert.deepEqual(
      rest.entries.map((entry) => read(entry)),
      Array.from({ length: 6 }, () => 'old'),
    )
    const watcher = again.watch({ prefix: '/a/', from: first.revision })
    assert.deepEqual(formatEvents(await takeUntil(watcher, 1)), [`put /a/7=new@${first.revision + 1}`])
    watcher.close()
  })

  test('keeps the compacted revision and never reuses revisions (Durable)', async ({ storage, reopen }) => {
    await put(storage, '/a/x', '1')
    await put(storage, '/a/y', '2')
    await remove(storage, '/a/x')
    const { revision } = await remove(storage, '/a/y')
    await storage.compact(revision)
    const again = await reopen!()
    assert.deepEqual([again.revision, again.compacted, again.count('/')], [revision, revision, 0])
    const failure = await failureOf(() => again.list({ prefix: '/a/', at: revision - 1 }))
    assert.deepEqual(failure, { code: 'Compacted', requested: revision - 1, compacted: revision, current: revision })
    assert.equal((await put(again, '/a/x', '3')).revision, revision + 1)
  })

  test('ages restored history anew (Durable)', async ({ storage, clock, reopen }) => {
    const { revision } = await put(storage, '/a/x', '1')
    await put(storage, '/a/x', '2')
    const again = await reopen!()
    clock.advance(4 * 60_000)
    assert.equal(read(await again.get('/a/x', { at: revision })), '1')
    clock.advance(2 * 60_000)
    assert.equal((await failureOf(() => again.get('/a/x', { at: revision }))).code, 'Compacted')
    assert.equal(read(again.peek('/a/x')), '2')
  })

  test('restores no compacted entries across restarts (Durable)', async ({ storage, reopen }) => {
    let store = storage
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 30; n++) {
        const key = `/a/${n % 7}`
        if ((n + round) % 3 === 0 && store.peek(key) !== undefined) await remove(store, key)
        else await put(store, key, `${round}.${n}`)
      }
      const before = formatEntries((await store.list({ prefix: '/' })).entries)
      await store.compact(store.revision - round)
      store = await reopen!()
      assert.deepEqual(formatEntries((await store.list({ prefix: '/' })).entries), before)
    }
  })
}
