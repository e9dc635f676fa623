import assert from 'node:assert/strict'
import { maxKeyLength } from '../keys.ts'
import {
  expectWritten,
  failureOf,
  formatEntries,
  formatEvents,
  put,
  read,
  remove,
  type StoreTest,
  takeUntil,
  text,
} from './harness.ts'

/** Tests of revisions, conditions and effects of writes. */
export function writeTests(test: StoreTest): void {
  test('assigns consecutive revisions across keys', async ({ storage }) => {
    const start = storage.revision
    assert.ok(start >= 1)
    assert.equal((await put(storage, '/a/x', '1')).revision, start + 1)
    assert.equal((await put(storage, '/b/y', '2')).revision, start + 2)
    assert.equal((await remove(storage, '/a/x')).revision, start + 3)
    assert.equal(storage.revision, start + 3)
  })

  test('records the creating revision of an entry, anew after deletion', async ({ storage }) => {
    const first = await put(storage, '/a/x', '1')
    const second = await put(storage, '/a/x', '2')
    assert.equal(first.created, first.revision)
    assert.equal(second.created, first.revision)
    assert.equal((await remove(storage, '/a/x')).created, first.revision)
    const again = await put(storage, '/a/x', '3')
    assert.equal(again.created, again.revision)
  })

  test('calls encode once, synchronously, with the revision of the write', async ({ storage }) => {
    const revisions: number[] = []
    const writing = storage.put('/a/x', (revision) => {
      revisions.push(revision)
      return new Uint8Array([7])
    })
    assert.equal(revisions.length, 1)
    const entry = expectWritten(await writing)
    assert.deepEqual(revisions, [entry.revision])
    assert.deepEqual([...entry.value], [7])
  })

  test('orders writes of one turn as they were called', async ({ storage }) => {
    const start = storage.revision
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => storage.put(n % 2 === 0 ? '/a/x' : `/a/${n}`, text(String(n)))),
    )
    assert.deepEqual(
      results.map((result) => expectWritten(result).revision - start),
      Array.from({ length: 20 }, (_, n) => n + 1),
    )
    assert.equal(read(storage.peek('/a/x')), '18')
  })

  test('creates with expect 0 and conflicts with an existing key', async ({ storage }) => {
    const first = expectWritten(await storage.put('/a/x', text('1'), { expect: 0 }))
    const result = await storage.put('/a/x', text('2'), { expect: 0 })
    assert.equal(result.outcome, 'conflict')
    assert.equal(result.outcome === 'conflict' && result.current, first)
    assert.equal(storage.revision, first.revision)
  })

  test('updates only the expected revision', async ({ storage }) => {
    const first = await put(storage, '/a/x', '1')
    const second = expectWritten(await storage.put('/a/x', text('2'), { expect: first.revision }))
    const late = await storage.put('/a/x', text('3'), { expect: first.revision })
    assert.deepEqual(late, { outcome: 'conflict', current: second })
    const missing = await storage.put('/a/y', text('3'), { expect: first.revision })
    assert.deepEqual(missing, { outcome: 'conflict', current: undefined })
    assert.equal(storage.revision, second.revision)
  })

  test('reports a conflict with a write of the same turn once that write is visible', async ({ storage }) => {
    const writing = storage.put('/a/x', text('1'), { expect: 0 })
    const late = await storage.put('/a/x', text('2'), { expect: 0 })
    assert.deepEqual(late, { outcome: 'conflict', current: storage.peek('/a/x') })
    assert.equal(read(storage.peek('/a/x')), '1')
    expectWritten(await writing)
    const removing = storage.delete('/a/x', text('last'))
    const later = await storage.put('/a/x', text('3'), { expect: expectWritten(await writing).revision })
    assert.deepEqual(later, { outcome: 'conflict', current: undefined })
    expectWritten(await removing)
  })

  test('does not call encode for a conflict', async ({ storage }) => {
    await put(storage, '/a/x', '1')
    let calls = 0
    const encode = () => {
      calls++
      return new Uint8Array()
    }
    await storage.put('/a/x', encode, { expect: 0 })
    await storage.delete('/a/none', encode)
    await storage.delete('/a/x', encode, { expect: 1 })
    assert.equal(calls, 0)
  })

  test('delivers the last state of a deleted key to watchers, and nothing to readers', async ({ storage }) => {
    const from = storage.revision
    const entry = await put(storage, '/a/x', '1')
    assert.deepEqual(await storage.delete('/a/x', text('no'), { expect: entry.revision + 1 }), {
      outcome: 'conflict',
      current: entry,
    })
    const last = expectWritten(
      await storage.delete('/a/x', (revision) => text(`gone at +${revision - from}`)(), { expect: entry.revision }),
    )
    assert.equal(storage.peek('/a/x'), undefined)
    assert.equal(await storage.get('/a/x'), undefined)
    assert.deepEqual(await storage.delete('/a/x', text('no')), { outcome: 'conflict', current: undefined })
    const watcher = storage.watch({ prefix: '/a/', from })
    const events = await takeUntil(watcher, 2)
    assert.equal(events[1]?.type, 'delete')
    assert.equal(events[1]?.entry, last)
    assert.equal(events[1]?.previous, entry)
    assert.equal(read(last), 'gone at +2')
    watcher.close()
  })

  test('leaves no trace of a write whose encode throws, and reuses its revision', async ({ storage }) => {
    const start = storage.revision
    const failing = storage.put('/a/x', () => {
      throw new RangeError('too big')
    })
    await assert.rejects(failing, RangeError)
    assert.equal(storage.peek('/a/x'), undefined)
    assert.equal((await put(storage, '/a/y', '1')).revision, start + 1)
  })

  test('rejects an encode that writes to the store', async ({ storage }) => {
    const start = storage.revision
    const inner: Promise<unknown>[] = []
    const outer = storage.put('/a/x', () => {
      inner.push(assert.rejects(storage.put('/a/y', text('inner'))))
      return new Uint8Array([1])
    })
    assert.equal(expectWritten(await outer).revision, start + 1)
    assert.ok((await Promise.all(inner)).length > 0)
  })

  test('keeps the memo of a write with its entry', async ({ storage }) => {
    const memo = { parsed: true }
    assert.equal(expectWritten(await storage.put('/a/x', text('1'), { memo })).memo, memo)
    assert.equal(storage.peek('/a/x')?.memo, memo)
    assert.equal((await put(storage, '/a/x', '2')).memo, undefined)
  })

  test('stores empty values and values of 1.5 MB', async ({ storage }) => {
    const large = new Uint8Array(1_500_000).map((_, at) => at % 251)
    await storage.put('/a/large', () => large)
    await storage.put('/a/empty', () => new Uint8Array())
    assert.deepEqual((await storage.get('/a/large'))?.value, large)
    assert.equal((await storage.get('/a/empty'))?.value.length, 0)
  })

  test('rejects invalid keys', async ({ storage }) => {
    const start = storage.revision
    for (const key of ['', 'a', 'a/b', '/', '/a/', '/a\0b', '/a\ud800', '/\udc00a', `/${'a'.repeat(maxKeyLength)}`]) {
      const putting = await failureOf(() => storage.put(key, text('1')))
      assert.equal(putting.code, 'InvalidKey', JSON.stringify(key))
      assert.equal((await failureOf(() => storage.delete(key, text('1')))).code, 'InvalidKey')
      assert.equal(await storage.get(key), undefined)
    }
    assert.equal(storage.revision, start)
  })

  test('stores keys of maximum length', async ({ storage }) => {
    const key = `/a/${'k'.repeat(maxKeyLength - 3)}`
    const wide = `/a/${'\u754c'.repeat(maxKeyLength - 3)}`
    await put(storage, key, '1')
    await put(storage, wide, '2')
    assert.deepEqual(formatEntries((await storage.list({ prefix: '/a/' })).entries), [
      `${key}=1@${storage.revision - 1}`,
      `${wide}=2@${storage.revision}`,
    ])
  })

  test('stores keys that are special names in JavaScript', async ({ storage }) => {
    const from = storage.revision
    const keys = ['/a/__proto__', '/a/constructor', '/a/hasOwnProperty', '/__proto__/x', '/a//b', '/a/ ', '/a/%2F']
    for (const key of keys) await put(storage, key, key)
    for (const key of keys) assert.equal(read(await storage.get(key)), key)
    const watcher = storage.watch({ prefix: '/__proto__/', from })
    assert.deepEqual(formatEvents(await takeUntil(watcher, 1)), [`put /__proto__/x=/__proto__/x@${from + 4}`])
    watcher.close()
  })

  test('lets exactly one of 64 writers with the same expected revision win', async ({ storage }) => {
    let current = (await put(storage, '/a/x', 'start')).revision
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(
        Array.from({ length: 64 }, (_, writer) => storage.put('/a/x', text(`${round}.${writer}`), { expect: current })),
      )
      const winners = results.filter((result) => result.outcome === 'written')
      assert.equal(winners.length, 1, `round ${round}`)
      const entry = expectWritten(winners[0]!)
      assert.equal(entry.revision, current + 1)
      for (const result of results) {
        if (result.outcome === 'conflict') assert.equal(result.current, entry)
      }
      current = entry.revision
    }
  })

  test('loses no update of 64 writers that read, change and retry', async ({ storage }) => {
    await put(storage, '/a/count', '0')
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (let done = false; !done; ) {
          const entry = (await storage.get('/a/count'))!
          const result = await storage.put('/a/count', text(String(Number(read(entry)) + 1)), { expect: entry.revision })
          done = result.outcome === 'written'
        }
      }),
    )
    assert.equal(read(storage.peek('/a/count')), '64')
  })
}
