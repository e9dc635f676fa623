import { describe, expect, it } from 'vitest'
import { BoltReader } from './bolt-reader.ts'
import { type BoltBuckets, boltPages } from './bolt-writer.ts'

const fileOf = (bytes: Buffer) => ({
  size: bytes.length,
  read: async (at: number, length: number) => bytes.subarray(at, at + length),
})

const entry = (key: string, value: Uint8Array) => ({ key: Buffer.from(key), value })
const written = (buckets: BoltBuckets) => Buffer.concat([...boltPages(buckets)])

async function read(bytes: Buffer, bucket: string): Promise<(readonly [string, string])[] | undefined> {
  const entries = await (await BoltReader.open(fileOf(bytes))).bucket(bucket)
  if (entries === undefined) return undefined
  const found: (readonly [string, string])[] = []
  for await (const { key, value } of entries) found.push([Buffer.from(key).toString(), Buffer.from(value).toString()])
  return found
}

const numbered = (count: number, size: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => entry(String(n).padStart(8, '0'), Buffer.alloc(size(n), n % 256)))

const shown = (entries: readonly { key: Uint8Array; value: Uint8Array }[]) =>
  entries.map(({ key, value }) => [Buffer.from(key).toString(), Buffer.from(value).toString()])

describe('a bbolt file', () => {
  it('holds empty, small and large buckets', async () => {
    const small = [entry('a', Buffer.from('1')), entry('b', Buffer.alloc(0))]
    const large = numbered(20_000, (n) => (n % 1000 === 7 ? 20_000 : n % 200))
    const bytes = written({ key: large, alarm: [], meta: small, keyed: numbered(1, () => 900) })
    expect(bytes.length % 4096).toBe(0)
    expect(await read(bytes, 'alarm')).toEqual([])
    expect(await read(bytes, 'meta')).toEqual(shown(small))
    expect((await read(bytes, 'keyed'))?.length).toBe(1)
    expect(await read(bytes, 'key')).toEqual(shown(large))
    expect(await read(bytes, 'missing')).toBeUndefined()
  })

  it('is read by its second meta page when the first is damaged', async () => {
    const bytes = written({ meta: [entry('a', Buffer.from('1'))] })
    bytes[30]! ^= 1
    expect(await read(bytes, 'meta')).toEqual([['a', '1']])
    bytes[4096 + 30]! ^= 1
    await expect(read(bytes, 'meta')).rejects.toThrow('no valid meta page')
  })

  it('is refused when its pages contradict each other', async () => {
    const bytes = written({ key: numbered(2000, () => 100) })
    const damaged = (change: (copy: Buffer) => void) => {
      const copy = Buffer.from(bytes)
      change(copy)
      return read(copy, 'key')
    }
    const page = (number: number) => number * 4096
    const last = bytes.length / 4096 - 1
    const branch = Array.from({ length: last }, (_, at) => at + 2).find((at) => bytes.readUInt16LE(page(at) + 8) === 1) ?? 0
    expect(branch).toBeGreaterThan(2)
    // A branch that refers to itself, to a page twice, and beyond the end of the file.
    const child = page(branch) + 16 + 8
    await expect(damaged((copy) => copy.writeUInt32LE(branch, child))).rejects.toThrow('used twice')
    await expect(damaged((copy) => copy.writeUInt32LE(copy.readUInt32LE(child + 16), child))).rejects.toThrow('used twice')
    await expect(damaged((copy) => copy.writeUInt32LE(last + 1, child))).rejects.toThrow('impossible')
    // A leaf with a wrong number, a wrong kind, an entry that is too long, too many entries, and keys out of order.
    await expect(damaged((copy) => copy.writeUInt32LE(9, page(2)))).rejects.toThrow('another page')
    await expect(damaged((copy) => copy.writeUInt16LE(16, page(2) + 8))).rejects.toThrow('another kind')
    await expect(damaged((copy) => copy.writeUInt32LE(9999, page(2) + 16 + 12))).rejects.toThrow('longer than its page')
    await expect(damaged((copy) => copy.writeUInt16LE(9999, page(2) + 10))).rejects.toThrow(/longer than|more elements/)
    await expect(damaged((copy) => copy.write('99999999', page(2) + (copy.indexOf('00000000', page(2)) % 4096)))).rejects.toThrow(
      'out of order',
    )
    await expect(damaged((copy) => copy.writeUInt32LE(9999, page(2) + 12))).rejects.toThrow('longer than the file')
    await expect(read(bytes.subarray(0, page(last)), 'key')).rejects.toThrow('behind the end')
  })
})
