import { describe, expect, it } from 'vitest'
import type { Entry, StorageEvent } from '../interfaces.ts'
import { deleteEvent, makeEntry, putEvent } from './entries.ts'
import { History, type HistoryLimits } from './history.ts'
import { Tree } from './tree.ts'

const limits: HistoryLimits = { historyMs: 60_000, historyBytes: 10_000, minHistoryMs: 1000 }

/** A state with its history. */
class Past {
  readonly history: History
  readonly tree = new Tree()

  constructor(overrides: Partial<HistoryLimits> = {}) {
    this.history = new History(1, { ...limits, ...overrides })
  }

  put(key: string, options: { atMs?: number; bytes?: number; note?: unknown } = {}): Entry {
    const revision = this.history.revision + 1
    const entry = makeEntry(key, new Uint8Array(options.bytes ?? 0), { revision, created: revision, note: options.note })
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
    const past = new Past()
    for (let n = 0; n < 5000; n++) past.put(n % 1000 === 0 ? '/rare' : '/common')
    const rare: number[] = []
    for (let after = 1; ; ) {
      const event = past.history.find(after, ({ key }) => key === '/rare')
      if (event === undefined) break
      rare.push(event.revision)
      after = event.revision
    }
    expect(rare).toEqual([2, 1002, 2002, 3002, 4002])
    expect(past.history.find(5001, () => true)).toBeUndefined()
    expect(past.history.find(9999, () => true)).toBeUndefined()
  })

  it('restores the same state forwards and backwards', () => {
    const past = new Past()
    const shown: string[][] = [[]]
    for (let n = 0; n < 5000; n++) {
      const key = `/${(n * 31) % 17}`
      if (n % 4 === 0 && past.tree.get(key) !== undefined) past.delete(key)
      else past.put(key)
      shown.push(past.tree.slice(0, past.tree.size).map((entry) => `${entry.key}@${entry.revision}`))
    }
    for (const at of [0, 1, 2, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3000, 4096, 4999, 5000])
      expect(past.stateAt(at + 1)).toEqual(shown[at])
  })

  it('lists writes that compaction makes unreachable', () => {
    const past = new Past()
    past.put('/x') // 2
    past.put('/y') // 3
    past.put('/x') // 4
    past.delete('/y') // 5
    past.put('/x') // 6
    expect(past.history.supersededBy(3)).toEqual([])
    expect(past.history.supersededBy(4)).toEqual([2])
    expect(past.history.supersededBy(5)).toEqual([2, 3, 5])
    past.history.compact(4)
    expect(past.history.supersededBy(6)).toEqual([3, 5, 4])
  })

  it('compacts by age', () => {
    const past = new Past()
    past.put('/x', { atMs: 0 })
    past.put('/x', { atMs: 500 })
    past.put('/x', { atMs: 30_000 })
    expect(past.history.due(60_499)).toBeUndefined()
    expect(past.history.due(60_500)).toBe(3)
    expect(past.history.due(90_000)).toBe(4)
    past.history.compact(4)
    expect([past.history.isEmpty, past.history.bytes, past.history.due(1e9)]).toEqual([true, 0, undefined])
    expect(past.stateAt(4)).toEqual(['/x@4'])
  })

  it('compacts by size, oldest first, but not below the minimum age', () => {
    const fill = (minHistoryMs: number) => {
      const past = new Past({ minHistoryMs })
      for (let n = 0; n < 12; n++) past.put('/x', { atMs: n * 1000, bytes: 1000 })
      return past.history
    }
    const history = fill(1000)
    expect([history.isCrowded, history.bytes]).toEqual([true, 12 * 256 + 11 * 1000])
    expect(history.due(11_999)).toBe(6)
    expect(fill(9000).due(11_000)).toBe(4)
    expect(fill(12_000).due(11_000)).toBeUndefined()
    history.compact(6)
    expect([history.isCrowded, history.due(11_999)]).toEqual([false, undefined])
  })

  it('forks into independent histories', () => {
    const past = new Past()
    for (let n = 0; n < 3000; n++) past.put(`/${n % 10}`)
    const fork = past.history.fork(limits)
    past.put('/x')
    past.history.compact(2999)
    expect([fork.revision, fork.compacted, past.history.revision]).toEqual([3001, 1, 3002])
    expect(fork.find(3001, () => true)).toBeUndefined()
    expect(fork.find(1, () => true)?.revision).toBe(2)
    expect(past.history.find(3001, () => true)?.key).toBe('/x')
  })

  it('lets go of the notes of what is superseded, after a while', () => {
    const past = new Past()
    const first = past.put('/x', { note: 'first' })
    const second = past.put('/x', { note: 'second' })
    const kept = past.put('/y', { note: 'kept' })
    expect(first.note).toBe('first')
    for (let n = 0; n < 255; n++) past.put('/z')
    expect([first.note, second.note, kept.note]).toEqual([undefined, 'second', 'kept'])
    first.note = 'parsed again for a reader of an old state'
    past.history.sweepNotes()
    expect([first.note, second.note, kept.note]).toEqual([undefined, 'second', 'kept'])
  })
})
