import { describe, expect, it } from 'vitest'
import { deleteEvent, makeEntry, putEvent } from '../mvcc/entries.ts'
import { maxRecordBytes, readRecord, writeRecord } from './record.ts'

const sample = (key: string, value: number[]) => makeEntry(key, new Uint8Array(value), { revision: 9, created: 7 })

describe('record', () => {
  it('survives writing and reading', () => {
    for (const entry of [sample('/a', []), sample('/a/\u754c\u{1f600}', [0, 255, 1]), sample(`/${'k'.repeat(4095)}`, [1])]) {
      for (const event of [putEvent(entry, undefined), deleteEvent(entry, entry)]) {
        const buffer = Buffer.alloc(maxRecordBytes(event) + 5)
        const end = writeRecord(buffer, 5, event)
        expect(end).toBeLessThanOrEqual(buffer.length)
        expect(readRecord(Buffer.from(buffer.subarray(5, end)), 9)).toEqual({ type: event.type, entry })
      }
    }
  })

  it('rejects malformed bytes', () => {
    const event = putEvent(sample('/key', [1, 2, 3]), undefined)
    const good = Buffer.alloc(maxRecordBytes(event))
    const record = good.subarray(0, writeRecord(good, 0, event))
    const changed = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(record)
      change(bytes)
      return readRecord(bytes, 9)
    }
    expect(readRecord(Buffer.alloc(0), 9)).toBeUndefined()
    expect(readRecord(record.subarray(0, 12), 9)).toBeUndefined()
    expect(readRecord(record.subarray(0, 15), 9)).toBeUndefined()
    expect(changed((bytes) => bytes.writeUInt8(3, 0))).toBeUndefined()
    expect(changed((bytes) => bytes.writeUInt32LE(0xffffffff, 1))).toBeUndefined()
    expect(changed((bytes) => bytes.writeDoubleLE(10, 5))).toBeUndefined()
    expect(changed((bytes) => bytes.writeDoubleLE(Number.NaN, 5))).toBeUndefined()
  })

  it('rejects every single flipped bit, and a record under another revision', () => {
    const event = putEvent(sample('/key', [1, 2, 3]), undefined)
    const buffer = Buffer.alloc(maxRecordBytes(event))
    const record = buffer.subarray(0, writeRecord(buffer, 0, event))
    for (let bit = 0; bit < record.length * 8; bit++) {
      const bytes = Buffer.from(record)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      expect(readRecord(bytes, 9), `bit ${bit}`).toBeUndefined()
    }
    expect(readRecord(record, 10)).toBeUndefined()
  })
})
