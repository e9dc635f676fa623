import { once } from 'node:events'
import { constants, createDeflate, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HeaderDecoder, HeaderEncoder, headerDictionary } from './header-block.ts'

/** Compresses blocks into one zlib stream, as clients do. */
async function compressed(blocks: readonly Buffer[], dictionary?: Buffer): Promise<Buffer[]> {
  const options = { level: constants.Z_BEST_COMPRESSION, flush: constants.Z_SYNC_FLUSH }
  const deflate = createDeflate(dictionary === undefined ? options : { ...options, dictionary })
  const found: Buffer[] = []
  for (const block of blocks) {
    deflate.write(block)
    await once(deflate, 'readable')
    found.push(deflate.read() as Buffer)
  }
  deflate.destroy()
  return found
}

function block(headers: Readonly<Record<string, string>>): Buffer {
  const sized = (text: string) => [0, 0, text.length >> 8, text.length & 0xff, ...Buffer.from(text)]
  const entries = Object.entries(headers)
  return Buffer.from([0, 0, 0, entries.length, ...entries.flatMap(([name, value]) => [...sized(name), ...sized(value)])])
}

describe('header blocks of SPDY', () => {
  it('have the dictionary of SPDY/3', () => {
    expect(deflateSync('x', { dictionary: headerDictionary }).readUInt32BE(2)).toBe(0xe3c6a7c2)
  })

  it.each([
    ['with the dictionary', headerDictionary],
    ['without a dictionary', undefined],
  ])('are decoded in order, %s', async (_, dictionary) => {
    const headers = [
      { streamtype: 'error', port: '8080', requestid: '0', 'content-type': 'text/plain' },
      { streamtype: 'data', port: '8080', requestid: '0' },
      {},
      { streamtype: 'data', port: '8080', requestid: '1', several: 'a\0b' },
    ]
    const decoder = new HeaderDecoder()
    const found = (await compressed(headers.map(block), dictionary)).map((each) => Object.fromEntries(decoder.decode(each)))
    expect(found).toEqual([...headers.slice(0, 3), { ...headers[3], several: 'a,b' }])
  })

  it('survive a round trip', () => {
    const encoder = new HeaderEncoder()
    const decoder = new HeaderDecoder()
    for (const headers of [{}, { a: 'b' }, { a: 'b', c: 'd' }])
      expect(Object.fromEntries(decoder.decode(encoder.encode(headers)))).toEqual(headers)
  })

  it.each([
    ['an empty block', Buffer.alloc(0)],
    ['bytes that are not compressed', Buffer.from('plain text')],
    ['a block that is too long', deflateSync(Buffer.alloc(100_000))],
    ['a length beyond the block', deflateSync(Buffer.from([0, 0, 0, 1, 0, 0, 1, 0]))],
    ['a count without headers', deflateSync(Buffer.from([0, 0, 0, 2]))],
  ])('reject %s', (_, bytes) => {
    expect(() => new HeaderDecoder().decode(bytes)).toThrow('malformed header block')
  })
})
