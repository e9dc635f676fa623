import type { Work } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { DecodeError } from '../schema-error.ts'
import { loadCbor } from './index.ts'

const cbor = await loadCbor()
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

/** Runs work and returns its result and the number of yields. */
function counted<T>(work: Work<T>): { readonly steps: number; readonly result: T } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { steps, result: value }
  }
}

const numbered = <T>(count: number, make: (i: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, make(i)]))

describe('large CBOR documents', () => {
  const large = {
    list: Array.from({ length: 5 }, (_, i) => [i, 'é', null, true, 1.5]),
    maps: numbered(20, (i) => numbered(1000, () => i)),
  }

  it('are encoded and decoded with many yields', () => {
    const written = counted(cbor.paced.encode(large))
    expect(written.steps).toBeGreaterThan(15)
    const read = counted(cbor.paced.decode(written.result))
    expect(read.steps).toBeGreaterThan(15)
    expect(read.result).toEqual(large)
  })

  it('have their keys ordered by length, then by bytes', () => {
    const names = ['ab', 'aa', '\u{1f600}', '\uffee', 'é', 'b', ...Array.from({ length: 3000 }, (_, i) => `k${i}`)]
    const bytes = cbor.encodeBare(Object.fromEntries(names.map((name) => [name, 1])))
    // The head of the map, the head of each key, and one byte for each value.
    const keys = names.map((name) => Buffer.from(name)).sort((a, b) => a.length - b.length || Buffer.compare(a, b))
    const members = keys.map((key) => Buffer.concat([Uint8Array.of(0x40 | key.length), key, Uint8Array.of(1)]))
    expect(hex(bytes)).toBe(hex(Buffer.concat([Uint8Array.of(0xb9, names.length >> 8, names.length & 0xff), ...members])))
  })

  it('tag binary values at every depth', () => {
    const bytesNode = { kind: 'scalar', scalar: 'bytes' } as const
    const node = { kind: 'map', of: { kind: 'list', of: bytesNode } } as const
    const type = { name: 't', custom: undefined, field: new Map([['data', { json: 'data', type: node }]]) }
    const data = numbered(5, () => Array.from({ length: 1000 }, () => 'aGVsbG8='))
    const encoded = cbor.encode({ data, text: 'aGVsbG8=' }, type as never)
    expect(hex(encoded).split('d64568656c6c6f')).toHaveLength(5001)
    expect(cbor.decode(encoded)).toEqual({ data, text: 'aGVsbG8=' })
  })

  const long = '58ff'.concat('61'.repeat(255))
  const item = 'a'.repeat(255)
  const many = long.repeat(600)
  it.each([
    ['in a list', `990258${many}`, Array(600).fill(item)],
    ['in a list of indefinite length', `9f${many}ff`, Array(600).fill(item)],
    ['in a map of indefinite length', `bf4161990258${many}416201ff`, { a: Array(600).fill(item), b: 1 }],
    ['below tags', `d9d9f7c0a14161d6990258${many}`, { a: Array(600).fill(item) }],
    ['as one tagged value', `a14161d65a00030d40${'00'.repeat(200_000)}`, { a: Buffer.alloc(200_000).toString('base64') }],
  ])('are decoded %s', (_, text, value) => {
    expect(cbor.decode(bytes(text))).toEqual(value)
  })

  it.each([
    ['a repeated key', `a2 4161 990258${many} 6161 02`, 'cbor: found duplicate map key "a"'],
    ['a key that is no text', `a1 01 990258${many}`, 'cbor: map keys must be strings'],
    ['an unknown tag', `d9abcd 990258${many}`, 'cbor: '],
    ['invalid UTF-8', `82 990258${many} 41ff`, 'cbor: invalid UTF-8 string'],
  ])('are rejected with %s', (_, text, message) => {
    expect(() => cbor.decode(bytes(text))).toThrow(DecodeError)
    expect(() => cbor.decode(bytes(text))).toThrow(message)
  })
})

describe('CBOR documents', () => {
  it('begin with the self-described CBOR tag and encode text as byte strings', () => {
    expect(hex(cbor.encode({ kind: 'Pod', n: 1, on: true, none: null, list: ['a'] }))).toBe(
      'd9d9f7a5416e01426f6ef5446b696e6443506f64446c697374814161446e6f6e65f6',
    )
    expect(hex(cbor.encodeBare('a'))).toBe('4161')
  })

  it('tag binary values for base64', () => {
    const bytesNode = { kind: 'map', of: { kind: 'scalar', scalar: 'bytes' } } as const
    const type = { name: 't', custom: undefined, field: new Map([['data', { json: 'data', type: bytesNode }]]) }
    expect(hex(cbor.encode({ data: { a: 'aGVsbG8=' }, text: 'aGVsbG8=' }, type as never))).toBe(
      'd9d9f7a2446461746 1a14161d64568656c6c6f4474657874486147567362 47383d'.replaceAll(' ', ''),
    )
  })

  it.each([
    ['a text string', 'a16161 6162', { a: 'b' }],
    ['tagged bytes', 'a14161 d64568656c6c6f', { a: 'aGVsbG8=' }],
    ['base64url', 'a14161 d542fbff', { a: '-_8' }],
    ['base16', 'a14161 d742fbff', { a: 'fbff' }],
    ['the self-description', 'd9d9f7 a14161 20', { a: -1 }],
    ['indefinite lengths', 'bf4161 9f 01 02 ff ff', { a: [1, 2] }],
    ['64-bit integers', 'a14161 1b7fffffffffffffff', { a: 9223372036854775807n }],
    ['floating point', 'a14161 fb3ff8000000000000', { a: 1.5 }],
  ])('decode %s', (_, text, value) => {
    expect(cbor.decode(bytes(text))).toEqual(value)
  })

  it.each([
    ['nothing', '', 'EOF'],
    ['a truncated string', '4561', 'unexpected EOF'],
    ['more data', '61 61 62 63', 'cbor: 2 bytes of extraneous data starting at index 2'],
    ['a repeated key', 'a2 4161 01 6161 02', 'cbor: found duplicate map key "a"'],
    ['a key that is no text', 'a1 01 02', 'cbor: map keys must be strings'],
    ['invalid UTF-8', 'a1 4161 41ff', 'cbor: invalid UTF-8 string'],
    ['undefined', 'a1 4161 f7', 'cbor: '],
    ['NaN', 'a1 4161 f97e00', 'cbor: '],
    [
      'a long array of indefinite length',
      `9f ${'a0'.repeat(1025)} ff`,
      'cbor: exceeded max number of elements 1024 for CBOR array',
    ],
    [
      'a long map of indefinite length',
      `bf ${'a0'.repeat(2050)} ff`,
      'cbor: exceeded max number of key-value pairs 1024 for CBOR map',
    ],
    ['a large array', '9b 7fffffffffffffff', 'cbor: exceeded max number of elements 1024 for CBOR array'],
    ['a text of indefinite length', 'a1 4161 5f 4163 4164 ff', 'cbor: indefinite length bytes/strings are not supported'],
    ['a stray break', 'ff', 'cbor: unexpected "break" code'],
    [
      'integers above 64 bits',
      'a14161 1b8000000000000000',
      "integer into Go value of type int64 (9223372036854775808 overflows Go's int64)",
    ],
    ['integers below 64 bits', 'a14161 3b8000000000000000', 'cannot unmarshal negative integer'],
  ])('reject %s', (_, text, message) => {
    expect(() => cbor.decode(bytes(text))).toThrow(DecodeError)
    expect(() => cbor.decode(bytes(text))).toThrow(message)
  })

  it('preserve 64-bit integers', () => {
    const list = cbor.decode(bytes('83 1b7fffffffffffffff 3b7fffffffffffffff fbc3e0000000000000'))
    expect(list).toEqual([2n ** 63n - 1n, -(2n ** 63n), -(2 ** 63)])
  })

  it('reject deep nesting without recursion', () => {
    const deep = new Uint8Array(1_000_000).fill(0x81)
    expect(() => cbor.decode(deep)).toThrow(
      expect.objectContaining({ code: 'Depth', message: 'cbor: exceeded max nested level 64' }),
    )
  })
})
