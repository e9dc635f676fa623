import { describe, expect, it } from 'vitest'
import { decodeHeaders, encodeHeaders } from './header-block.ts'
import { decodeHuffman } from './huffman.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('header blocks', () => {
  it('are read as they are written, also long values', () => {
    const headers = [
      [':path', '/etcdserverpb.KV/Txn'],
      ['te', 'trailers'],
      ['long', 'x'.repeat(5000)],
    ] as const
    expect([...decodeHeaders(encodeHeaders(headers))]).toEqual(headers)
  })

  it('may use the static table and the Huffman code', () => {
    // The examples of RFC 7541, C.4.1 and C.6.1, without what needs a dynamic table.
    const request = decodeHeaders(hex('82 86 84 01 8c f1e3 c2e5 f23a 6ba0 ab90 f4ff'))
    expect([...request]).toEqual([
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
    ])
    const response = decodeHeaders(hex('20 08 82 6402 0f 12 96 d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff'))
    expect([...response]).toEqual([
      [':status', '302'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ])
  })

  it.each([
    ['a reference to a dynamic table', 'be'],
    ['a table of the peer', '3f e1 1f'],
    ['a text that is cut off', '00 05 61'],
    ['a field without a value', '0f 10'],
    ['an integer without an end', 'ff ff ff ff ff ff ff'],
    ['padding that is no padding', '00 81 00 00'],
  ])('are refused with %s', (_name, block) => {
    expect(() => decodeHeaders(hex(block))).toThrow('damaged header block')
  })

  it('hold every byte in the Huffman code', () => {
    // "&" has 8 bits, "\\" 19, "\n" 30: each is padded with ones.
    expect(decodeHuffman(hex('f8'))).toBe('&')
    expect(decodeHuffman(hex('fffe 1f'))).toBe('\\')
    expect(decodeHuffman(hex('ffff fff3'))).toBe('\n')
    expect(() => decodeHuffman(hex('ffff ffff'))).toThrow('the end of a text')
  })
})
