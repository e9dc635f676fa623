import assert from 'node:assert/strict'
import type { StorageEvent } from '../interfaces.ts'
import { failureOf, formatEvents, nextTurn, put, remove, type StoreTest, takeUntil, text } from './harness.ts'

/** Tests of watchers: delivery, waking and ending. */
export function watchTests(test: StoreTest): void {
  test('delivers events after the start, each at its revision [P184 P301]', async ({ storage }) => {
    const before = await put(storage, '/a/x', '1')
    const watcher = storage.watch({ prefix: '/a/', from: before.revision })
    const second = await put(storage, '/a/x', '2')
    await put(storage, '/a/y', '3')
    await remove(storage, '/a/x', 'last')
    const events = await takeUntil(watcher, 3)
    assert.deepEqual(formatEvents(events), [
      `put /a/x=2@${before.revision + 1}`,
      `put /a/y=3@${before.revision + 2}`,
      `delete /a/x=last@${before.revision + 3}`,
    ])
    assert.deepEqual(
      events.map(({ key, revision, previous }) => [key, revision, previous]),
      [
        ['/a/x', before.revision + 1, before],
        ['/a/y', before.revision + 2, undefined],
        ['/a/x', before.revision + 3, second],
      ],
    )
    watcher.close()
  })

  test('delivers missed events first to a watch from an earlier revision [P184 P301]', async ({ storage }) => {
    const from = storage.revision
    await put(storage, '/a/x', '1')
    await put(storage, '/b/x', '2')
    const watcher = storage.watch({ prefix: '/a/', from })
    await put(storage, '/a/x', '3')
    assert.deepEqual(formatEvents(await takeUntil(watcher, 2)), [`put /a/x=1@${from + 1}`, `put /a/x=3@${from + 3}`])
    await put(storage, '/a/x', '4')
    assert.deepEqual(formatEvents(await takeUntil(watcher, 1)), [`put /a/x=4@${from + 4}`])
    watcher.close()
  })

  test('neither misses nor repeats events between a list and a watch from its revision [P182 P183]', async ({ storage }) => {
    const writing = (async () => {
      for (let n = 0; n < 200; n++) {
        const writes = Array.from({ length: 5 }, (_, hand) => storage.put(`/a/${(n + hand) % 20}`, text(String(n))))
        await Promise.all(writes)
        if (n % 10 === 0) await nextTurn()
      }
    })()
    while (storage.revision < 300) await nextTurn()
    const { entries, revision } = await storage.list({ prefix: '/a/' })
    const state = new Map(entries.map((entry) => [entry.key, entry]))
    const watcher = storage.watch({ prefix: '/a/', from: revision })
    await writing
    const received = await takeUntil(watcher, storage.revision - revision)
    for (const { key, entry, previous } of received) {
      assert.equal(previous, state.get(key))
      state.set(key, entry)
    }
    assert.deepEqual(
      [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
      (await storage.list({ prefix: '/a/' })).entries,
    )
    watcher.close()
  })

  test('delivers only events of the prefix or the key', async ({ storage }) => {
    const from = storage.revision
    const prefixes = ['/', '/a/', '/a/b/', '/a/b', '/a/bc', '/b/']
    const early = prefixes.map((prefix) => storage.watch({ prefix, from }))
    for (const key of ['/a', '/a/b', '/a/b/c', '/a/bc', '/ab/c', '/b']) await put(storage, key, '')
    await nextTurn()
    const late = prefixes.map((prefix) => storage.watch({ prefix, from }))
    for (const watchers of [early, late]) {
      assert.deepEqual(
        watchers.map((watcher) => watcher.take().map(({ key }) => key)),
        [['/a', '/a/b', '/a/b/c', '/a/bc', '/ab/c', '/b'], ['/a/b', '/a/b/c', '/a/bc'], ['/a/b/c'], ['/a/b'], ['/a/bc'], []],
      )
      for (const watcher of watchers) watcher.close()
    }
  })

  test('waits for a future start revision', async ({ storage }) => {
    const from = storage.revision + 2
    const watcher = storage.watch({ prefix: '/a/', from })
    assert.equal(watcher.revision, from)
    for (const value of ['1', '2', '3']) await put(storage, '/a/x', value)
    assert.deepEqual(formatEvents(await takeUntil(watcher, 1)), [`put /a/x=3@${from + 1}`])
    assert.equal(watcher.revision, from + 1)
    watcher.close()
  })

  test('rejects a watch from before the window', async ({ storage }) => {
    await put(storage, '/a/x', '1')
    const { revision } = await put(storage, '/a/x', '2')
    await storage.compact(revision)
    const expected = { code: 'Compacted', requested: revision - 1, compacted: revision, current: revision }
    assert.deepEqual(await failureOf(() => storage.watch({ prefix: '/a/', from: revision - 1 })), expected)
    assert.equal((await failureOf(() => storage.watch({ prefix: '/a/', from: 0 }))).code, 'Compacted')
    storage.watch({ prefix: '/a/', from: revision }).close()
  })

  test('rejects an invalid key or prefix', async ({ storage }) => {
    for (const prefix of ['', 'a/', '/\0', '/\ud800/']) {
      assert.equal((await failureOf(() => storage.watch({ prefix, from: storage.revision }))).code, 'InvalidKey')
    }
  })

  test('delivers the same event object to all watchers', async ({ storage }) => {
    const from = storage.revision
    const early = storage.watch({ prefix: '/a/', from })
    const { revision } = await put(storage, '/a/x', '1')
    const late = storage.watch({ prefix: '/', from })
    const [event] = await takeUntil(early, 1)
    assert.equal(event, (await takeUntil(late, 1))[0])
    assert.equal(event?.entry, storage.peek('/a/x'))
    assert.equal(event?.revision, revision)
    early.close()
    late.close()
  })

  test('has a revision safe for bookmarks, which also advances on writes to other prefixes', async ({ storage }) => {
    const from = storage.revision
    const watcher = storage.watch({ prefix: '/a/', from })
    assert.equal(watcher.revision, from)
    await put(storage, '/b/x', '1')
    assert.equal(watcher.revision, from + 1)
    await put(storage, '/a/x', '2')
    await put(storage, '/b/x', '3')
    assert.equal(watcher.revision, from + 1, 'an event waits')
    watcher.take()
    assert.equal(watcher.revision, from + 3)
    const late = storage.watch({ prefix: '/a/', from })
    assert.equal(late.revision, from + 1)
    late.take()
    assert.equal(late.revision, from + 3)
    watcher.close()
    late.close()
  })

  test('wakes a watcher once, on a later turn, for many writes in one turn', async ({ storage }) => {
    const watcher = storage.watch({ prefix: '/a/', from: storage.revision })
    let calls = 0
    const taken: StorageEvent[] = []
    watcher.onReady = () => {
      calls++
      taken.push(...watcher.take())
    }
    const writes = Promise.all(Array.from({ length: 50 }, (_, n) => storage.put(`/a/${n}`, text(''))))
    assert.equal(calls, 0)
    await writes
    await nextTurn()
    assert.deepEqual([calls, taken.length], [1, 50])
    await put(storage, '/b/x', '')
    await nextTurn()
    assert.equal(calls, 1, 'not for other prefixes')
    await put(storage, '/a/x', '')
    await nextTurn()
    assert.deepEqual([calls, taken.length], [2, 51])
    watcher.close()
  })

  test('does not wake a watcher again before its queue is emptied', async ({ storage }) => {
    const watcher = storage.watch({ prefix: '/a/', from: storage.revision })
    let calls = 0
    watcher.onReady = () => {
      calls++
    }
    for (const key of ['/a/1', '/a/2', '/a/3']) {
      await put(storage, key, '')
      await nextTurn()
    }
    assert.equal(calls, 1)
    assert.equal(watcher.take(2).length, 2)
    await put(storage, '/a/4', '')
    await nextTurn()
    assert.equal(calls, 1)
    assert.equal(watcher.take().length, 2)
    await put(storage, '/a/5', '')
    await nextTurn()
    assert.equal(calls, 2)
    watcher.close()
  })

  test('calls an onReady that is set after events have arrived', async ({ storage }) => {
    const from = storage.revision
    const live = storage.watch({ prefix: '/a/', from })
    await put(storage, '/a/x', '1')
    await nextTurn()
    const late = storage.watch({ prefix: '/a/', from })
    await nextTurn()
    const woken = [live, late].map((watcher) => {
      return new Promise<void>((resolve) => {
        watcher.onReady = resolve
      })
    })
    await Promise.all(woken)
    assert.deepEqual([live.take().length, late.take().length], [1, 1])
    live.close()
    late.close()
  })

  test('returns taken events that later writes do not change, also when there were none', async ({ storage }) => {
    const watcher = storage.watch({ prefix: '/a/', from: storage.revision })
    const none = watcher.take()
    await put(storage, '/a/x', '1')
    const one = watcher.take()
    await put(storage, '/a/x', '2')
    assert.deepEqual([none.length, one.length], [0, 1])
    watcher.close()
  })

  test('takes at most max events, from history and from the queue', async ({ storage }) => {
    const from = storage.revision
    const early = storage.watch({ prefix: '/a/', from })
    for (let n = 0; n < 7; n++) await put(storage, n % 2 === 0 ? '/a/x' : '/b/x', String(n))
    await nextTurn()
    for (const watcher of [early, storage.watch({ prefix: '/a/', from })]) {
      assert.deepEqual(
        [watcher.take(3), watcher.take(3), watcher.take(3)].map((events) => events.length),
        [3, 1, 0],
      )
      assert.equal(watcher.revision, storage.revision)
      watcher.close()
    }
  })

  test('delivers concurrent writes to a watcher that catches up in small steps', async ({ storage }) => {
    const from = storage.revision
    for (let n = 0; n < 20; n++) await put(storage, '/a/x', String(n))
    const watcher = storage.watch({ prefix: '/a/', from })
    const revisions: number[] = []
    for (let n = 0; revisions.length < 30; n++) {
      if (n < 10) await put(storage, '/a/x', 'more')
      revisions.push(...watcher.take(2).map(({ revision }) => revision))
      await nextTurn()
    }
    assert.deepEqual(
      revisions,
      Array.from({ length: 30 }, (_, n) => from + n + 1),
    )
    watcher.close()
  })

  test('cuts off only the watcher whose queue overflows, which can resume at its revision', async ({ storage }) => {
    const from = storage.revision
    const slow = storage.watch({ prefix: '/a/', from, maxPending: 3 })
    const quick = storage.watch({ prefix: '/a/', from, maxPending: 3 })
    let ends = 0
    await put(storage, '/a/x', '0')
    assert.equal(slow.take().length, 1)
    slow.onReady = () => {
      if (slow.ended !== undefined) ends++
    }
    let taken = quick.take().length
    for (let n = 1; n <= 5; n++) {
      await put(storage, '/a/x', String(n))
      taken += quick.take().length
    }
    await nextTurn()
    assert.deepEqual([slow.ended, quick.ended, taken, ends], ['overflow', undefined, 6, 1])
    assert.deepEqual(slow.take(), [])
    assert.equal(slow.revision, from + 1)
    const resumed = storage.watch({ prefix: '/a/', from: slow.revision })
    assert.equal((await takeUntil(resumed, 5)).length, 5)
    for (const watcher of [slow, quick, resumed]) watcher.close()
  })

  test('does not count unread history as queued events', async ({ storage }) => {
    const from = storage.revision
    for (let n = 0; n < 10; n++) await put(storage, '/a/x', String(n))
    const watcher = storage.watch({ prefix: '/a/', from, maxPending: 2 })
    await put(storage, '/a/x', '10')
    assert.equal((await takeUntil(watcher, 11)).length, 11)
    assert.equal(watcher.ended, undefined)
    watcher.close()
  })

  test('cuts off a watcher that has not read compacted events', async ({ storage }) => {
    const from = storage.revision
    for (let n = 0; n < 4; n++) await put(storage, '/a/x', String(n))
    const behind = storage.watch({ prefix: '/a/', from })
    const ahead = storage.watch({ prefix: '/a/', from })
    behind.take(1)
    ahead.take(2)
    await storage.compact(from + 2)
    assert.deepEqual([behind.ended, ahead.ended], ['overflow', undefined])
    assert.deepEqual(behind.take(), [])
    assert.equal(ahead.take().length, 2)
    ahead.close()
  })

  test('neither delivers to nor wakes a closed watcher', async ({ storage }) => {
    const watcher = storage.watch({ prefix: '/a/', from: storage.revision })
    let calls = 0
    watcher.onReady = () => {
      calls++
    }
    await put(storage, '/a/x', '1')
    const { revision } = watcher
    const before = calls
    watcher.close()
    watcher.close()
    await put(storage, '/a/x', '2')
    await nextTurn()
    assert.deepEqual([calls, watcher.take(), watcher.ended, watcher.revision], [before, [], undefined, revision])
  })

  test('ends watchers when the store closes; queued events can still be taken', async ({ storage }) => {
    const from = storage.revision
    await put(storage, '/a/x', '0')
    const live = storage.watch({ prefix: '/a/', from: storage.revision })
    await put(storage, '/a/x', '1')
    await nextTurn()
    const late = storage.watch({ prefix: '/a/', from })
    const ended = [live, late].map((watcher) => {
      return new Promise<void>((resolve) => {
        watcher.onReady = () => {
          if (watcher.ended === 'closed') resolve()
        }
      })
    })
    await storage.close()
    await Promise.all(ended)
    assert.deepEqual([live.take().length, late.take().length], [1, 2])
  })
}
