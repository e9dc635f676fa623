import { describe, expect, it } from 'vitest'
import { ownBytes } from './entries.ts'

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
