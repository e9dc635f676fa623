import { fakeClock } from '@krmkit/meta'
import { describe, expect, it, vi } from 'vitest'
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { type ResolvedOptions, resolveOptions } from '../options.ts'
import { failureOf, formatEvents, nextTurn, read, text } from '../testing/harness.ts'
import type { Journal } from './journal.ts'
import { firstRevision, MvccStorage } from './mvcc-storage.ts'

/** A journal whose commits are completed by the test. */
class HeldJournal implements Journal {
  readonly commits: { events: readonly StorageEvent[]; done: () => void; fail: (error: Error) => void }[] = []
  readonly compactions: { revision: Revision; superseded: readonly Revision[] }[] = []
  compactionFails = false
  isClosed = false
  /** Returns the newest durable revision after a failed commit. */
  recover = async (): Promise<Revision> => this.durable
  durable: Revision = firstRevision

  commit(events: readonly StorageEvent[]): Promise<void> {
    return new Promise((resolve, fail) => {
      const done = () => {
        this.durable = events.at(-1)!.revision
        resolve()
      }
      this.commits.push({ events, done, fail })
    })
  }

  async compact(revision: Revision, superseded: readonly Entry[]): Promise<void> {
    this.compactions.push({ revision, superseded: superseded.map((entry) => entry.revision) })
    if (this.compactionFails) throw new Error('disk full')
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

function held(options: Partial<ResolvedOptions> = {}) {
  const journal = new HeldJournal()
  const clock = fakeClock(0)
  const initial = { compacted: firstRevision, entries: [], events: [] }
  return { journal, clock, storage: MvccStorage.open({ ...resolveOptions({ clock }), ...options }, initial, journal) }
}

const keysOf = (commit: { events: readonly StorageEvent[] }) => commit.events.map(({ key }) => key)

describe('MvccStorage with a journal', () => {
  it('commits in one batch the writes collected during a commit', async () => {
    const { journal, storage } = held()
    const writes = ['/1', '/2'].map((key) => storage.put(key, text(key)))
    await nextTurn()
    for (const key of ['/3', '/4', '/5']) writes.push(storage.put(key, text(key)))
    await nextTurn()
    expect(journal.commits.map(keysOf)).toEqual([['/1', '/2']])
    journal.commits[0]!.done()
    await nextTurn()
    expect(journal.commits.map(keysOf)).toEqual([
      ['/1', '/2'],
      ['/3', '/4', '/5'],
    ])
    journal.commits[1]!.done()
    expect((await Promise.all(writes)).map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => 'written'))
  })

  it('shows nothing before it is durable', async () => {
    const { journal, storage } = held()
    const watcher = storage.watch({ prefix: '/', from: 1 })
    const waiting = storage.waitFor(2, new AbortController().signal)
    let isDone = false
    const write = storage.put('/a', text('1')).finally(() => {
      isDone = true
    })
    await nextTurn()
    expect([isDone, storage.revision, storage.peek('/a'), storage.count('/'), watcher.take(), watcher.revision]).toEqual([
      false,
      1,
      undefined,
      0,
      [],
      1,
    ])
    expect((await storage.list({ prefix: '/' })).entries).toEqual([])
    expect((await failureOf(() => storage.get('/a', { at: 2 }))).code).toBe('FutureRevision')
    journal.commits[0]!.done()
    await write
    expect([storage.revision, read(storage.peek('/a')), storage.count('/'), await waiting]).toEqual([2, '1', 1, true])
    expect(formatEvents(watcher.take())).toEqual(['put /a=1@2'])
  })

  it('decides conflicts against pending writes and reports them once visible', async () => {
    const { journal, storage } = held()
    const first = storage.put('/a', text('1'), { expect: 0 })
    const second = storage.put('/a', text('2'), { expect: 2 })
    let answered: unknown
    const late = storage.put('/a', text('3'), { expect: 2 }).then((result) => {
      answered = result
    })
    await nextTurn()
    expect(answered).toBeUndefined()
    expect(formatEvents(journal.commits[0]!.events)).toEqual(['put /a=1@2', 'put /a=2@3'])
    expect(journal.commits[0]!.events[1]!.previous).toBe(journal.commits[0]!.events[0]!.entry)
    journal.commits[0]!.done()
    await Promise.all([first, second, late])
    expect(answered).toEqual({ outcome: 'conflict', current: storage.peek('/a') })
    expect(read(storage.peek('/a'))).toBe('2')
  })

  it('takes pending deletions into account', async () => {
    const { journal, storage } = held()
    const writes = [storage.put('/a', text('1')), storage.delete('/a', text('1'))]
    const again = storage.delete('/a', text('1'))
    writes.push(storage.put('/a', text('2'), { expect: 0 }))
    await nextTurn()
    journal.commits[0]!.done()
    expect(await again).toEqual({ outcome: 'conflict', current: storage.peek('/a') })
    expect((await Promise.all(writes)).map(({ outcome }) => outcome)).toEqual(['written', 'written', 'written'])
    expect(storage.peek('/a')?.created).toBe(4)
  })

  it('rejects all pending and later writes when the journal fails, and remains readable', async () => {
    const { journal, storage } = held()
    const kept = storage.put('/a', text('kept'))
    await nextTurn()
    journal.commits[0]!.done()
    await kept
    const watcher = storage.watch({ prefix: '/', from: 1 })
    const committing = storage.put('/a', text('lost'))
    await nextTurn()
    const collecting = storage.put('/b', text('lost'))
    const conflicting = storage.put('/b', text('lost'), { expect: 0 })
    journal.commits[1]!.fail(new Error('disk on fire'))
    const expected = { code: 'Unavailable', reason: 'journal', problem: 'a write could not be made durable: disk on fire' }
    for (const write of [committing, collecting, conflicting]) expect(await failureOf(() => write)).toEqual(expected)
    expect(await failureOf(() => storage.put('/c', text('no')))).toEqual(expected)
    expect(await failureOf(() => storage.delete('/none', text('no')))).toEqual(expected)
    expect(journal.commits).toHaveLength(2)
    expect([storage.revision, read(await storage.get('/a')), storage.count('/')]).toEqual([2, 'kept', 1])
    expect(formatEvents(watcher.take())).toEqual(['put /a=kept@2'])
    await storage.close()
    expect(journal.isClosed).toBe(true)
  })

  /** A store with one entry whose next write fails. */
  async function failed(recover?: (journal: HeldJournal) => Promise<Revision>) {
    const { journal, clock, storage } = held()
    const kept = storage.put('/a', text('kept'))
    await nextTurn()
    journal.commits[0]!.done()
    await kept
    if (recover !== undefined) journal.recover = () => recover(journal)
    const failing = storage.put('/a', text('unclear'))
    await nextTurn()
    journal.commits[1]!.fail(new Error('disk full'))
    return { journal, clock, storage, failing }
  }

  it('accepts writes again a second after a commit failed, from the last durable revision', async () => {
    const { journal, clock, storage, failing } = await failed()
    expect(await failureOf(() => failing)).toMatchObject({ reason: 'journal' })
    clock.advance(999)
    expect(await failureOf(() => storage.put('/a', text('early')))).toMatchObject({ reason: 'journal' })
    clock.advance(1)
    const next = storage.put('/a', text('next'), { expect: 2 })
    await nextTurn()
    expect(formatEvents(journal.commits[2]!.events)).toEqual(['put /a=next@3'])
    journal.commits[2]!.done()
    expect([(await next).outcome, read(storage.peek('/a')), storage.revision]).toEqual(['written', 'next', 3])
  })

  it('acknowledges a failed commit that is durable nevertheless', async () => {
    const { storage, failing } = await failed(async () => 3)
    expect([(await failing).outcome, read(storage.peek('/a')), storage.revision]).toEqual(['written', 'unclear', 3])
  })

  it('leaves the outcome of a failed commit open while the journal cannot be read, and decides it later', async () => {
    let attempts = 0
    const { journal, clock, storage, failing } = await failed(async () => {
      if (++attempts < 3) throw new Error('unreadable')
      return 3
    })
    expect(await failureOf(() => failing)).toMatchObject({ reason: 'outcome' })
    expect(await failureOf(() => storage.put('/b', text('no')))).toMatchObject({ reason: 'journal' })
    expect(attempts).toBe(1)
    for (const expected of [2, 3]) {
      clock.advance(1000)
      expect(await failureOf(() => storage.put('/b', text('no')))).toMatchObject({ reason: 'journal' })
      await nextTurn()
      expect(attempts).toBe(expected)
    }
    expect([read(storage.peek('/a')), storage.revision]).toEqual(['unclear', 3])
    clock.advance(1000)
    const next = storage.put('/b', text('next'))
    await nextTurn()
    journal.commits[2]!.done()
    expect(await next).toMatchObject({ outcome: 'written', entry: { revision: 4 } })
  })

  it('closes after the last commit and rejects later writes', async () => {
    const { journal, storage } = held()
    const write = storage.put('/a', text('1'))
    const closing = storage.close()
    expect((await failureOf(() => storage.put('/b', text('2')))).code).toBe('Closed')
    await nextTurn()
    expect(journal.isClosed).toBe(false)
    journal.commits[0]!.done()
    await closing
    expect([(await write).outcome, journal.isClosed]).toEqual(['written', true])
  })

  it('splits large commits', async () => {
    const { journal, storage } = held()
    const megabyte = new Uint8Array(1024 * 1024)
    const writes = Array.from({ length: 10 }, (_, n) => storage.put(`/${n}`, () => megabyte))
    await nextTurn()
    journal.commits[0]!.done()
    await nextTurn()
    journal.commits[1]!.done()
    await Promise.all(writes)
    expect(journal.commits.map(({ events }) => events.length)).toEqual([8, 2])
  })

  it('passes superseded revisions to the journal', async () => {
    const { journal, storage } = held()
    const writes = [
      storage.put('/a', text('1')), // 2
      storage.put('/b', text('1')), // 3
      storage.put('/a', text('2')), // 4
      storage.delete('/b', text('1')), // 5
    ]
    await nextTurn()
    journal.commits[0]!.done()
    await Promise.all(writes)
    await storage.compact(4)
    await storage.compact(3)
    await storage.compact(5)
    expect(journal.compactions).toEqual([
      { revision: 4, superseded: [2] },
      { revision: 5, superseded: [3, 5] },
    ])
    journal.compactionFails = true
    const write = storage.put('/a', text('3'))
    await nextTurn()
    journal.commits[1]!.done()
    await write
    const problem = 'history could not be compacted: disk full'
    expect(await failureOf(() => storage.compact(6))).toEqual({ code: 'Unavailable', reason: 'journal', problem })
    expect(storage.compacted).toBe(6)
  })
})

describe('housekeeping', () => {
  it('runs while there is history and leaves no timer behind', async () => {
    const clock = fakeClock(0)
    const storage = MvccStorage.empty(resolveOptions({ clock }))
    expect(clock.pending).toBe(0)
    await storage.put('/a', text('1'))
    await storage.put('/a', text('2'))
    expect(clock.pending).toBe(1)
    clock.advance(10 * 60_000)
    expect([clock.pending, storage.compacted]).toEqual([0, 3])
    await storage.put('/a', text('3'))
    expect(clock.pending).toBe(1)
    await storage.close()
    expect(clock.pending).toBe(0)
  })

  it('cuts off watchers whose queued events are too old', async () => {
    const clock = fakeClock(0)
    const storage = MvccStorage.empty(resolveOptions({ clock }))
    const [stuck, reading] = [storage.watch({ prefix: '/', from: 1 }), storage.watch({ prefix: '/', from: 1 })]
    await storage.put('/a', text('1'))
    reading.take()
    clock.advance(10 * 60_000)
    expect([stuck.ended, reading.ended]).toEqual(['overflow', undefined])
    await storage.close()
  })

  it('clears the memos of superseded entries, never those of the newest state', async () => {
    const clock = fakeClock(0)
    const storage = MvccStorage.empty(resolveOptions({ clock }))
    await storage.put('/a', text('1'), { memo: 'old' })
    const old = storage.peek('/a')!
    await storage.put('/a', text('2'), { memo: 'new' })
    for (let n = 0; n < 300; n++) await storage.put('/b', text(''))
    old.memo = 'set again by a reader of an old state'
    clock.advance(60_000)
    expect([old.memo, storage.peek('/a')?.memo]).toEqual([undefined, 'new'])
    await storage.close()
  })
})

describe('a watcher whose onReady throws', () => {
  it('does not prevent other watchers from waking', async () => {
    const storage = MvccStorage.empty(resolveOptions({}))
    const [bad, good] = [storage.watch({ prefix: '/', from: 1 }), storage.watch({ prefix: '/', from: 1 })]
    let woken = false
    const later: (() => void)[] = []
    vi.stubGlobal('queueMicrotask', (fn: () => void) => later.push(fn))
    bad.onReady = () => {
      throw new Error('reader at fault')
    }
    good.onReady = () => {
      woken = true
    }
    await storage.put('/a', text('1'))
    await nextTurn()
    vi.unstubAllGlobals()
    expect([woken, later.length]).toEqual([true, 1])
    expect(later[0]).toThrow('reader at fault')
    bad.close()
    await storage.close()
  })
})
