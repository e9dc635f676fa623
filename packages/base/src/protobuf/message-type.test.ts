import fc from 'fast-check'
import protobuf from 'protobufjs/minimal.js'
import { describe, expect, it } from 'vitest'
import { MessageType } from './message-type.ts'

interface Part {
  readonly name: string
  readonly size: number
}
interface Whole {
  readonly key: Uint8Array
  readonly count: number
  readonly isLast: boolean
  readonly part: Part | undefined
  readonly parts: readonly Part[]
  readonly numbers: readonly number[]
  readonly time: number
  readonly flags: number
  readonly ratio: number
}
const part = new MessageType<Part>({ 1: ['name', 'text'], 2: ['size', 'int'] })
const whole = new MessageType<Whole>({
  1: ['key', 'bytes'],
  2: ['count', 'int'],
  3: ['isLast', 'bool'],
  4: ['part', part],
  5: ['parts', part, 'repeated'],
  6: ['numbers', 'int', 'repeated'],
  7: ['time', 'fixed64'],
  8: ['flags', 'fixed32'],
  20: ['ratio', 'double'],
})

describe('MessageType', () => {
  it('encodes fields in the order of their numbers and omits absent members', () => {
    expect([...whole.encode({ isLast: true, count: 300, key: Uint8Array.of(0x61) })]).toEqual([10, 1, 0x61, 16, 0xac, 2, 24, 1])
    expect([...whole.encodeAfter(2, { count: 1 })]).toEqual([0, 0, 16, 1])
  })

  it('gives absent members their defaults', () => {
    const defaults = { key: new Uint8Array(), count: 0, isLast: false, parts: [], numbers: [], time: 0, flags: 0, ratio: 0 }
    expect(whole.decode(new Uint8Array())).toEqual(defaults)
  })

  it.each([
    0,
    127,
    128,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 40 + 7,
    2 ** 49 - 1,
    2 ** 49,
    Number.MAX_SAFE_INTEGER,
    -1,
    -5,
    Number.MIN_SAFE_INTEGER,
  ])('encodes the integer %d like another library', (count) => {
    const bytes = whole.encode({ count })
    const reader = protobuf.Reader.create(bytes)
    expect(reader.uint32()).toBe(0x10)
    expect(Number(reader.int64().toString())).toBe(count)
    expect(whole.decode(bytes).count).toBe(count)
  })

  it.each([0, 1, 2 ** 32 - 1, 2 ** 32, 1.7e18 + 2 ** 20, 2 ** 64 - 2 ** 11])('encodes the time %d in 64 bits', (time) => {
    const bytes = whole.encode({ time, flags: 0xffff_fff0, ratio: 0.1 })
    const reader = protobuf.Reader.create(bytes)
    expect([reader.uint32(), String(reader.fixed64())]).toEqual([0x39, String(BigInt(time))])
    expect([reader.uint32(), reader.fixed32()]).toEqual([0x45, 0xffff_fff0])
    expect([reader.uint32(), reader.double()]).toEqual([0xa1, 0.1])
    expect(whole.decode(bytes)).toMatchObject({ time, flags: 0xffff_fff0, ratio: 0.1 })
  })

  it('survives a round trip', () => {
    const parts = fc.record({ name: fc.string({ unit: 'grapheme' }), size: fc.maxSafeInteger() })
    const wholes = fc.record({
      key: fc.uint8Array({ maxLength: 300 }),
      count: fc.maxSafeInteger(),
      isLast: fc.boolean(),
      part: parts,
      parts: fc.array(parts),
      numbers: fc.array(fc.maxSafeInteger()),
      time: fc.maxSafeNat(),
      flags: fc.nat(2 ** 32 - 1),
      ratio: fc.double(),
    })
    fc.assert(
      fc.property(wholes, (value) => {
        expect(whole.decode(whole.encode(value))).toEqual(value)
      }),
    )
  })

  it('encodes values of every size', () => {
    for (const size of [0, 1, 127, 128, 20_000, 3_000_000]) {
      const key = new Uint8Array(size).fill(7)
      const read = whole.decode(whole.encode({ key, count: 1 }))
      expect(Buffer.compare(read.key, key)).toBe(0)
      expect(read.count).toBe(1)
    }
  })

  it.each(['x', 'é', '日', '🙂', '\ud800'])('encodes strings of %j like another library', (unit) => {
    for (const count of [0, 1, 31, 32, 63, 64, 65, 127, 128, 5000]) {
      const name = unit.repeat(count)
      const wellFormed = Buffer.from(name).toString()
      const bytes = part.encode({ name })
      const reader = protobuf.Reader.create(bytes)
      expect([reader.uint32(), reader.string()]).toEqual([0x0a, wellFormed])
      expect(part.decode(bytes).name).toBe(wellFormed)
    }
  })

  it('returns copies that do not share a reused buffer', () => {
    const bytes = whole.encode({ key: Uint8Array.of(1, 2) })
    const { key } = whole.decode(bytes)
    bytes.fill(0)
    expect([...key]).toEqual([1, 2])
  })

  it('rejects input truncated inside any field', () => {
    const fields: Partial<Whole>[] = [
      { key: Uint8Array.of(1, 2, 3) },
      { count: 300 },
      { part: { name: 'a', size: 300 } },
      { time: 1 },
      { flags: 1 },
      { ratio: 1 },
    ]
    for (const field of fields) {
      const bytes = whole.encode(field)
      for (let end = 1; end < bytes.length; end++) {
        expect(() => whole.decode(bytes.subarray(0, end)), JSON.stringify(field)).toThrow(RangeError)
      }
    }
  })

  it.each([
    ['a field of an unknown type', [0xa3, 0x06]],
    ['an integer of more than 64 bits', [0x10, ...Array.from({ length: 10 }, () => 0xff), 1]],
    ['an unknown field that is cut off', [0xa1, 0x06, 1, 2]],
  ])('rejects %s', (_name, bytes) => {
    expect(() => whole.decode(Uint8Array.from(bytes))).toThrow(RangeError)
  })

  it('skips unknown fields of every type', () => {
    const unknown = [0xa2, 6, 2, 1, 2, 0xa0, 6, 1, 0xa1, 6, 1, 2, 3, 4, 5, 6, 7, 8, 0xa5, 6, 1, 2, 3, 4]
    expect(whole.decode(Uint8Array.from([...unknown, 0x10, 3]))).toMatchObject({ count: 3 })
  })
})
