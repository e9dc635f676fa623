import { describe, expect, it } from 'vitest'
import { holdValue, makeEntry, makeEntryBelow, ownBytes, releaseValue, sizeOf, type ValueSource } from './entries.ts'

describe('ownBytes', () => {
  it('keeps bytes that fill their buffer', () => {
    const bytes = new TextEncoder().encode('x'.repeat(1000))
    expect(ownBytes(bytes)).toBe(bytes)
    const buffer = Buffer.from('x'.repeat(5000))
    expect(ownBytes(buffer)).toBe(buffer)
  })

  it('copies a small view of a large buffer', () => {
    const pooled = Buffer.from('short')
    const own = ownBytes(pooled)
    expect(own).not.toBe(pooled)
    expect([own.buffer.byteLength, Buffer.from(own).toString()]).toEqual([5, 'short'])
    pooled.fill(0)
    expect(Buffer.from(own).toString()).toBe('short')
  })
})

describe('the value of an entry', () => {
  const bytes = new TextEncoder().encode('value')

  function countingSource() {
    const reads: number[] = []
    const source: ValueSource = {
      readValue({ revision }) {
        reads.push(revision)
        return bytes.slice()
      },
    }
    return { source, reads }
  }

  it('is read from its source on each access after `release`, and stays in memory after `hold`', () => {
    const { source, reads } = countingSource()
    const entry = makeEntry('/a', bytes, { revision: 7, created: 7 })
    expect(entry.value).toBe(bytes)
    releaseValue(entry, source)
    expect([entry.value, entry.value, sizeOf(entry)]).toEqual([bytes, bytes, 5])
    expect(reads).toEqual([7, 7])
    holdValue(entry)
    expect(entry.value).toBe(entry.value)
    expect(reads).toEqual([7, 7, 7])
  })

  it('is read from its source once for an entry restored without a value', () => {
    const { source, reads } = countingSource()
    const entry = makeEntryBelow('/a', { revision: 7, created: 3, size: 5, source })
    expect([entry.created, sizeOf(entry), reads]).toEqual([3, 5, []])
    expect(entry.value).toBe(entry.value)
    expect(reads).toEqual([7])
    releaseValue(entry, source)
    expect(entry.value).not.toBe(entry.value)
  })

  it('is not read when it is already in memory', () => {
    const entry = makeEntry('/a', bytes, { revision: 7, created: 7 })
    holdValue(entry)
    expect(entry.value).toBe(bytes)
  })
})
