import { describe, expect, it } from 'vitest'
import type { Entry, StorageEvent } from '../interfaces.ts'
import { makeEntry } from '../mvcc/entries.ts'
import { StorageError } from '../storage-error.ts'
import { formatEntries, formatEvents } from '../testing/harness.ts'
import { maxRecordBytes, writeRecord } from './record.ts'
import { replay } from './replay.ts'

function record(revision: number, type: StorageEvent['type'], key: string): { key: number; value: Buffer } {
  const entry: Entry = makeEntry(key, Buffer.from(`v${revision}`), { revision, created: 1 })
  const event: StorageEvent = { type, key, revision, entry, previous: entry }
  const buffer = Buffer.alloc(maxRecordBytes(event))
  return { key: revision, value: Buffer.from(buffer.subarray(0, writeRecord(buffer, 0, event))) }
}

const problemOf = (fn: () => unknown) => {
  try {
    return fn()
  } catch (error) {
    return error instanceof StorageError ? error.message : error
  }
}

describe('replay', () => {
  it('restores the state at the compacted revision and the events after it', () => {
    const records = [record(2, 'put', '/a'), record(3, 'put', '/b'), record(5, 'put', '/a'), record(6, 'delete', '/b')]
    const { initial, superseded } = replay(() => records, 4)
    expect([formatEntries([...initial.entries]), formatEvents([...initial.events])]).toEqual([
      ['/a=v2@2', '/b=v3@3'],
      ['put /a=v5@5', 'delete /b=v6@6'],
    ])
    expect([...initial.events].map(({ previous }) => previous)).toEqual([...initial.entries])
    expect(superseded).toEqual([])
  })

  it('skips and reports the leftovers of an interrupted compaction', () => {
    const records = [record(2, 'put', '/a'), record(3, 'put', '/a'), record(4, 'delete', '/a'), record(6, 'put', '/b')]
    const { initial, superseded } = replay(() => records, 5)
    expect([[...initial.entries], formatEvents([...initial.events]), superseded]).toEqual([[], ['put /b=v6@6'], [2, 3, 4]])
  })

  it('restores an empty journal', () => {
    expect(replay(() => [], 7)).toEqual({ initial: { compacted: 7, entries: [], events: [] }, superseded: [] })
  })

  it('rejects gaps and malformed records', () => {
    const corrupt = 'storage is unavailable: the record of revision'
    expect(problemOf(() => replay(() => [record(2, 'put', '/a'), record(4, 'put', '/a')], 1))).toBe(`${corrupt} 3 is missing`)
    expect(problemOf(() => replay(() => [record(3, 'put', '/a')], 1))).toBe(`${corrupt} 2 is missing`)
    expect(problemOf(() => replay(() => [record(2, 'delete', '/a')], 1))).toBe(`${corrupt} 2 deletes a missing key`)
    expect(problemOf(() => replay(() => [{ key: 2, value: Buffer.from('what is this?') }], 1))).toBe(
      `${corrupt} 2 cannot be read`,
    )
  })
})
