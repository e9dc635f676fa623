import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gzipParts } from './gzip-parts.ts'

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

describe('gzipParts', () => {
  it('encodes parts of all sizes as one file', async () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 600 }),
      fc.nat({ max: 400_000 }).map((n) => new Uint8Array(n).fill(n % 251)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        const file = Buffer.concat(await collect(gzipParts(parts, new WeakMap())))
        expect(gunzipSync(file).equals(Buffer.concat(parts))).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  it('deflates a repeated piece once', async () => {
    let made = 0
    const bytes = Buffer.from('some text that repeats itself, '.repeat(300))
    const piece = {
      byteLength: bytes.length,
      bytes() {
        made++
        return bytes
      },
    }
    const known = new WeakMap()
    const first = Buffer.concat(await collect(gzipParts([Buffer.from('['), piece, Buffer.from(']')], known)))
    const second = Buffer.concat(await collect(gzipParts([piece, piece], known)))
    expect(made).toBe(1)
    expect(gunzipSync(first).toString()).toBe(`[${bytes}]`)
    expect(gunzipSync(second).toString()).toBe(`${bytes}${bytes}`)
  })

  it('joins small parts into chunks', async () => {
    const parts = Array.from({ length: 1000 }, (_, i) => Buffer.from(`part ${i} `.repeat(80)))
    expect((await collect(gzipParts(parts, new WeakMap()))).length).toBeLessThan(10)
  })

  it('rejects the read when a piece cannot be computed', async () => {
    const broken = {
      byteLength: 9,
      bytes(): Uint8Array {
        throw new Error('gone')
      },
    }
    await expect(collect(gzipParts([broken], new WeakMap()))).rejects.toThrow('gone')
  })
})
