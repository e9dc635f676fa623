import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HpackDecoder } from './decoder.ts'
import { encodeFields } from './encode-fields.ts'
import type { HeaderField } from './header-field.ts'

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex')
const decode = (decoder: HpackDecoder, block: Buffer) => {
  const found: HeaderField[] = []
  return decoder.decode(block, { add: (field) => found.push(field) }) ? found : undefined
}
const fields = (found: readonly HeaderField[] | undefined) => found?.map(({ name, value }) => `${name}: ${value}`)
const literal = (name: string, value: string) => encodeFields([[name, value]], { indexed: true })

/** Requests and responses of RFC 7541, appendix C. One decoder reads each list of blocks. */
const examples: readonly (readonly [title: string, blocks: readonly (readonly [string, readonly string[]])[]])[] = [
  [
    'C.2 literals and an indexed field',
    [
      ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key: custom-header']],
      ['040c 2f73 616d 706c 652f 7061 7468', [':path: /sample/path']],
      ['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password: secret']],
      ['82', [':method: GET']],
    ],
  ],
  [
    'C.4 requests in Huffman code',
    [
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
      ],
      [
        '8286 84be 5886 a8eb 1064 9cbf',
        [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
      ],
      [
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
        [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
      ],
    ],
  ],
  [
    'C.6 responses that evict from a table of 256 octets',
    [
      [
        '3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        [':status: 302', 'cache-control: private', 'date: Mon, 21 Oct 2013 20:13:21 GMT', 'location: https://www.example.com'],
      ],
      [
        '4883 640e ffc1 c0bf',
        [':status: 307', 'cache-control: private', 'date: Mon, 21 Oct 2013 20:13:21 GMT', 'location: https://www.example.com'],
      ],
      [
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
        [
          ':status: 200',
          'cache-control: private',
          'date: Mon, 21 Oct 2013 20:13:22 GMT',
          'location: https://www.example.com',
          'content-encoding: gzip',
          'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
        ],
      ],
    ],
  ],
]

describe('HpackDecoder', () => {
  it.each(examples)('decodes the example %s', (_, blocks) => {
    const decoder = new HpackDecoder()
    for (const [block, expected] of blocks) expect(fields(decode(decoder, hex(block)))).toEqual(expected)
  })

  it.each([
    ['an index beyond the tables', 'be'],
    ['the index 0', '80'],
    ['an integer that never ends', 'ffffffffffffffff'],
    ['an integer that is cut off', 'ff80'],
    ['text longer than the block', '4001'],
    ['a name without a value', '400161'],
    ['a table larger than agreed', '3fe21f'],
    ['a table size behind a field', '8220'],
    ['padding of a whole octet', '400161 82ffff'],
    ['padding with zeros', '400161 8118'],
    ['the code of EOS', '400161 84ffffffff'],
  ])('rejects %s', (_, block) => {
    expect(decode(new HpackDecoder(), hex(block))).toBeUndefined()
  })

  it('evicts entries above the table size', () => {
    const decoder = new HpackDecoder()
    for (let i = 0; i < 300; i++) {
      const name = `n${i}`
      expect(fields(decode(decoder, literal(name, 'v')))).toEqual([`${name}: v`])
    }
    const kept = Math.floor(4096 / (4 + 1 + 32))
    expect(fields(decode(decoder, indexed(62)))).toEqual(['n299: v'])
    expect(fields(decode(decoder, indexed(61 + kept)))).toEqual([`n${300 - kept}: v`])
    expect(decode(decoder, indexed(62 + kept))).toBeUndefined()
  })

  it('empties the table for a field above its size', () => {
    const decoder = new HpackDecoder()
    decode(decoder, literal('a', 'b'))
    decode(decoder, literal('a', 'x'.repeat(5000)))
    expect(decode(decoder, indexed(62))).toBeUndefined()
  })

  it('marks fields that are invalid in HTTP', () => {
    for (const [name, value] of [
      ['a', 'b\n'],
      ['a', '\0'],
      ['a', 'x\x7f'],
      ['a b', 'x'],
      ['A', 'x'],
      ['', 'x'],
    ] as const) {
      expect(decode(new HpackDecoder(), literal(name, value))).toMatchObject([{ name, value, valid: false }])
    }
    for (const value of ['', ' a\t', 'gr\xc3\xbcn', '\xff']) {
      expect(decode(new HpackDecoder(), literal('a', value))).toMatchObject([{ name: 'a', value, valid: true }])
    }
  })

  it('decodes literals of every length', () => {
    for (const length of [0, 1, 126, 127, 128, 254, 255, 16_511, 16_512, 70_000]) {
      const value = 'x'.repeat(length)
      expect(
        fields(
          decode(
            new HpackDecoder(),
            encodeFields([
              ['n', value],
              ['m', ''],
            ]),
          ),
        ),
      ).toEqual([`n: ${value}`, 'm: '])
    }
  })

  it('has no dynamic table if it announced size 0', () => {
    const decoder = new HpackDecoder({ maxTableSize: 0 })
    expect(fields(decode(decoder, Buffer.concat([hex('20'), literal('a', 'b')])))).toEqual(['a: b'])
    expect(decode(decoder, indexed(62))).toBeUndefined()
    expect(decode(new HpackDecoder({ maxTableSize: 0 }), hex('3fe11f'))).toBeUndefined()
    expect(decode(new HpackDecoder({ maxTableSize: 0 }), hex('21'))).toBeUndefined()
    expect(() => new HpackDecoder({ maxTableSize: 4097 })).toThrow(RangeError)
  })

  it.each([
    ['&', 'f8'],
    ['\\', 'fffe1f'],
    ['\n', 'fffffff3'],
  ])('decodes the code of %j, padded with ones', (text, code) => {
    const block = Buffer.concat([hex('0001 61'), Buffer.of(0x80 | (code.length / 2)), hex(code)])
    expect(fields(decode(new HpackDecoder(), block))).toEqual([`a: ${text}`])
  })

  it('never throws on arbitrary blocks', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
        const decoder = new HpackDecoder()
        for (const block of blocks) decode(decoder, Buffer.from(block))
      }),
    )
  })
})

/** A reference to a field of the tables. */
function indexed(index: number): Buffer {
  return index < 0x7f ? Buffer.of(index | 0x80) : Buffer.of(0xff, index - 0x7f)
}
