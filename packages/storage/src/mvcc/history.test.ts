import { describe, expect, it } from 'vitest'
import type { Entry, StorageEvent } from '../interfaces.ts'
import { deleteEvent, makeEntry, putEvent } from './entries.ts'
import { History, type HistoryLimits } from './history.ts'
import { Tree } from './tree.ts'

const limits: HistoryLimits = { historyMs: 60_000, historyBytes: 10_000, minHistoryMs: 1000 }

/** A state with its history. */
class HistoryFixture {
  readonly history: History
  readonly tree = new Tree()

  constructor(overrides: Partial<HistoryLimits> = {}) {
    this.history = new History(1, { ...limits, ...overrides })
  }

  put(key: string, options: { atMs?: number; bytes?: number; memo?: unknown } = {}): Entry {
    const revision = this.history.revision + 1
    const entry = makeEntry(key, new Uint8Array(options.bytes ?? 0), { revision, created: revision, memo: options.memo })
    this.#append(putEvent(entry, this.tree.get(key)), options.atMs)
    this.tree.set(entry)
    return entry
  }

  delete(key: string): void {
    const revision = this.history.revision + 1
    this.#append(deleteEvent(makeEntry(key, new Uint8Array(), { revision, created: revision }), this.tree.get(key)!))
    this.tree.delete(key)
  }

  stateAt(revision: number): string[] {
    const tree = new Tree(this.history.stateAt(revision, () => this.tree.freeze()))
    return tree.slice(0, tree.size).map((entry) => `${entry.key}@${entry.revision}`)
  }

  #append(event: StorageEvent, atMs = 0): void {
    this.history.append(event, atMs, () => this.tree.freeze())
  }
}

describe('History', () => {
  it('finds the next matching event', () => {
    const fixture = new HistoryFixture()
    for (let n = 0; n < 5000; n++) fixture.put(n % 1000 === 0 ? '/rare' : '/common')
    const rare: number[] = []
    for (let after = 1; ; ) {
      const event = fixture.history.find(after, ({ key }) => key === '/rare')
      if (event === undefined) break
      rare.push(event.revision)
      after = event.revision
    }
    expect(rare).toEqual([2, 1002, 2002, 3002, 4002])
    expect(fixture.history.find(5001, () => true)).toBeUndefined()
    expect(fixture.history.find(9999, () => true)).toBeUndefined()
  })

  it('restores the same state forwards and backwards', () => {
    const fixture = new HistoryFixture()
    const shown: string[][] = [[]]
    for (let n = 0; n < 5000; n++) {
      const key = `/${(n * 31) % 17}`
      if (n % 4 === 0 && fixture.tree.get(key) !== undefined) fixture.delete(key)
      else fixture.put(key)
      shown.push(fixture.tree.slice(0, fixture.tree.size).map((entry) => `${entry.key}@${entry.revision}`))
    }
    for (const at of [0, 1, 2, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3000, 4096, 4999, 5000])
      expect(fixture.stateAt(at + 1)).toEqual(shown[at])
  })

  it('lists writes that compaction makes unreachable', () => {
    const fixture = new HistoryFixture()
    fixture.put('/x') // 2
    fixture.put('/y') // 3
    fixture.put('/x') // 4
    fixture.delete('/y') // 5
    fixture.put('/x') // 6
    const supersededBy = (revision: number) => fixture.history.supersededBy(revision).map((entry) => entry.revision)
    expect(supersededBy(3)).toEqual([])
    expect(supersededBy(4)).toEqual([2])
    expect(supersededBy(5)).toEqual([2, 3, 5])
    fixture.history.compact(4)
    expect(supersededBy(6)).toEqual([3, 5, 4])
  })

  it('compacts by age', () => {
    const fixture = new HistoryFixture()
    fixture.put('/x', { atMs: 0 })
    fixture.put('/x', { atMs: 500 })
    fixture.put('/x', { atMs: 30_000 })
    expect(fixture.history.revisionToCompact(60_499)).toBeUndefined()
    expect(fixture.history.revisionToCompact(60_500)).toBe(3)
    expect(fixture.history.revisionToCompact(90_000)).toBe(4)
    fixture.history.compact(4)
    expect([fixture.history.isEmpty, fixture.history.bytes, fixture.history.revisionToCompact(1e9)]).toEqual([true, 0, undefined])
    expect(fixture.stateAt(4)).toEqual(['/x@4'])
  })

  it('compacts by size, oldest first, but not below the minimum age', () => {
    const fill = (minHistoryMs: number) => {
      const fixture = new HistoryFixture({ minHistoryMs })
      for (let n = 0; n < 12; n++) fixture.put('/x', { atMs: n * 1000, bytes: 1000 })
      return fixture.history
    }
    const history = fill(1000)
    expect([history.exceedsByteLimit, history.bytes]).toEqual([true, 12 * 256 + 11 * 1000])
    expect(history.revisionToCompact(11_999)).toBe(6)
    expect(fill(9000).revisionToCompact(11_000)).toBe(4)
    expect(fill(12_000).revisionToCompact(11_000)).toBeUndefined()
    history.compact(6)
    expect([history.exceedsByteLimit, history.revisionToCompact(11_999)]).toEqual([false, undefined])
  })

  it('forks into independent histories', () => {
    const fixture = new HistoryFixture()
    for (let n = 0; n < 3000; n++) fixture.put(`/${n % 10}`)
    const fork = fixture.history.fork(limits)
    fixture.put('/x')
    fixture.history.compact(2999)
    expect([fork.revision, fork.compacted, fixture.history.revision]).toEqual([3001, 1, 3002])
    expect(fork.find(3001, () => true)).toBeUndefined()
    expect(fork.find(1, () => true)?.revision).toBe(2)
    expect(fixture.history.find(3001, () => true)?.key).toBe('/x')
  })

  it('clears the memos of superseded entries after a number of events', () => {
    const fixture = new HistoryFixture()
    const first = fixture.put('/x', { memo: 'first' })
    const second = fixture.put('/x', { memo: 'second' })
    const kept = fixture.put('/y', { memo: 'kept' })
    expect(first.memo).toBe('first')
    for (let n = 0; n < 255; n++) fixture.put('/z')
    expect([first.memo, second.memo, kept.memo]).toEqual([undefined, 'second', 'kept'])
    first.memo = 'parsed again for a reader of an old state'
    fixture.history.sweepNotes()
    expect([first.memo, second.memo, kept.memo]).toEqual([undefined, 'second', 'kept'])
  })

  it('clears the memos of large superseded entries earlier', () => {
    const fixture = new HistoryFixture({ historyBytes: 1e9 })
    const bytes = 768 * 1024
    const entries = Array.from({ length: 6 }, (_, n) => fixture.put('/x', { bytes, memo: n }))
    // Two superseded entries have 1.5 MiB together, and a third would exceed 2 MiB; the last entry is current.
    expect(entries.map(({ memo }) => memo)).toEqual([undefined, undefined, undefined, 3, 4, 5])
    fixture.history.compact(fixture.history.revision)
    const later = Array.from({ length: 3 }, (_, n) => fixture.put('/y', { bytes, memo: n }))
    expect(later.map(({ memo }) => memo)).toEqual([0, 1, 2])
    fixture.put('/y', { bytes })
    expect(later.map(({ memo }) => memo)).toEqual([undefined, 1, 2])
  })
})
