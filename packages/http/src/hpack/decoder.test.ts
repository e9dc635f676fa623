import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HpackDecoder } from './decoder.ts'
import { HeaderList } from './header-list.ts'

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex')
const decode = (decoder: HpackDecoder, block: Buffer, limit = 1 << 20) => {
  const list = new HeaderList(limit)
  return decoder.decode(block, list) ? list.raw : undefined
}
const fields = (raw: readonly string[] | undefined) =>
  raw === undefined ? undefined : Array.from({ length: raw.length / 2 }, (_, i) => `${raw[2 * i]}: ${raw[2 * i + 1]}`)

/** Requests and responses of RFC 7541, appendix C. Each list of blocks is read by one decoder. */
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

  it('drops fields above the list limit but keeps the table in step', () => {
    const decoder = new HpackDecoder()
    const list = new HeaderList(100)
    expect(decoder.decode(Buffer.concat([literal('a', 'x'.repeat(60)), literal('b', 'c')]), list)).toBe(true)
    expect([list.tooLarge, list.raw]).toEqual([true, []])
    expect(fields(decode(decoder, indexed(62)))).toEqual(['b: c'])
  })

  it('keeps invalid fields and marks the list', () => {
    for (const [name, value] of [
      ['a', 'b\n'],
      ['a', '\0'],
      ['a', 'x\x7f'],
      ['a b', 'x'],
      ['A', 'x'],
      ['', 'x'],
    ] as const) {
      const list = new HeaderList(1000)
      new HpackDecoder().decode(literal(name, value), list)
      expect([list.invalid, list.raw]).toEqual([true, [name, value]])
    }
    for (const value of ['', ' a\t', 'gr\xc3\xbcn', '\xff']) {
      const list = new HeaderList(1000)
      new HpackDecoder().decode(literal('a', value), list)
      expect([list.invalid, list.raw]).toEqual([false, ['a', value]])
    }
  })

  it('never throws on arbitrary blocks', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
        const decoder = new HpackDecoder()
        for (const block of blocks) decoder.decode(Buffer.from(block), new HeaderList(500))
      }),
    )
  })
})

/** Encodes a literal with incremental indexing and a new name; lengths below 16 KiB. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  return Buffer.concat([Buffer.from(integer(bytes.length, 0x7f)), bytes])
}

function indexed(index: number): Buffer {
  const [first = 0, ...rest] = integer(index, 0x7f)
  return Buffer.from([first | 0x80, ...rest])
}

function integer(value: number, mask: number): number[] {
  if (value < mask) return [value]
  const octets = [mask]
  let rest = value - mask
  for (; rest >= 0x80; rest >>>= 7) octets.push((rest & 0x7f) | 0x80)
  return [...octets, rest]
}
