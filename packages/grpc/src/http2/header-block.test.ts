import { encodeFields } from '@krmkit/base/hpack'
import { describe, expect, it } from 'vitest'
import { HeaderDecoder } from './header-block.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const decode = (block: Buffer) => new HeaderDecoder().decode(block)

describe('header blocks', () => {
  it('round-trip, including long values', () => {
    const headers = [
      [':path', '/etcdserverpb.KV/Txn'],
      ['te', 'trailers'],
      ['long', 'x'.repeat(5000)],
    ] as const
    expect([...decode(encodeFields(headers))]).toEqual(headers)
  })

  it('may use the static table and the Huffman code', () => {
    // The example of RFC 7541, C.6.1, without the parts that need a dynamic table.
    const response = decode(hex('20 08 82 6402 0f 12 96 d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff'))
    expect([...response]).toEqual([
      [':status', '302'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ])
  })

  it('are decoded once', () => {
    const decoder = new HeaderDecoder()
    const block = encodeFields([['grpc-status', '0']])
    expect(decoder.decode(Buffer.from(block))).toBe(decoder.decode(block))
  })

  it.each([
    ['a reference to a dynamic table', 'be'],
    ['a table of the peer', '3f e1 1f'],
    ['a text that is cut off', '00 05 61'],
    ['a field without a value', '0f 10'],
    ['an integer without an end', 'ff ff ff ff ff ff ff'],
    ['padding that is no padding', '00 81 00 00'],
  ])('are refused with %s', (_name, block) => {
    expect(() => decode(hex(block))).toThrow('damaged header block')
  })
})
