import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeaderReader } from './header-reader.ts'
import { ResetBudget } from './reset-budget.ts'
import { encodeFields, encodeFrame, flags, frameTypes } from './testing/raw-http2.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const limits = { listBytes: 1000, frameBytes: 10_000, blockBytes: 4000 }
const readerOf = () => {
  const reader = new HeaderReader(limits, new ResetBudget())
  reader.read(preface)
  return reader
}
const request = (stream: number, value: string, indexed = false) =>
  encodeFrame(frameTypes.headers, { flags: flags.endHeaders, stream, payload: encodeFields([['x', value]], { indexed }) })

describe('HeaderReader', () => {
  it('returns each list once and drops those of earlier streams', () => {
    const reader = readerOf()
    for (const stream of [1, 3, 5, 7]) reader.read(request(stream, String(stream)))
    expect(reader.take(5)?.list.raw).toEqual(['x', '5'])
    expect([reader.take(5), reader.take(3), reader.take(1)]).toEqual([undefined, undefined, undefined])
    expect(reader.take(7)?.list.raw).toEqual(['x', '7'])
  })

  it('ignores streams with an even, used or skipped number', () => {
    const reader = readerOf()
    for (const stream of [5, 3, 5, 6]) reader.read(request(stream, String(stream)))
    expect(reader.take(3)).toBeUndefined()
    expect(reader.take(5)?.list.raw).toEqual(['x', '5'])
    expect(reader.take(6)).toBeUndefined()
  })

  it('bounds the lists of streams that never open', () => {
    const reader = readerOf()
    let stream = 1
    while (stream < 10_000 && reader.read(request(stream, 'y'.repeat(80))) !== undefined) stream += 2
    expect(stream / 2).toBeLessThan(limits.blockBytes / 80)
    expect(reader.read(request(stream, 'more'))).toBeUndefined()
  })

  it('frees the budget of taken lists', () => {
    const reader = readerOf()
    for (let stream = 1; stream < 2000; stream += 2) {
      expect(reader.read(request(stream, 'y'.repeat(80)))).toBeDefined()
      expect(reader.take(stream)?.list.raw).toHaveLength(2)
    }
  })

  it('reads the same lists however the input is split', () => {
    const bytes = Buffer.concat([
      preface,
      encodeFrame(frameTypes.settings),
      request(1, 'one', true),
      encodeFrame(frameTypes.data, { stream: 1, payload: Buffer.alloc(300, 1) }),
      encodeFrame(frameTypes.headers, { stream: 3, payload: encodeFields([['y', 'z']]) }),
      encodeFrame(frameTypes.continuation, { flags: flags.endHeaders, stream: 3, payload: Buffer.from([0xbe]) }),
    ])
    const standIn = Buffer.from([0x82, 0x87, 0x84, 0x01, 1, 0x78])
    const expected = Buffer.concat([
      preface,
      encodeFrame(frameTypes.settings),
      encodeFrame(frameTypes.headers, { flags: flags.endHeaders, stream: 1, payload: standIn }),
      encodeFrame(frameTypes.data, { stream: 1, payload: Buffer.alloc(300, 1) }),
      encodeFrame(frameTypes.headers, { flags: flags.endHeaders, stream: 3, payload: standIn }),
    ])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
        const reader = new HeaderReader(limits, new ResetBudget())
        const passed: (Buffer | undefined)[] = []
        let from = 0
        for (const to of [...cuts.sort((a, b) => a - b), bytes.length]) {
          passed.push(reader.read(bytes.subarray(from, to)))
          from = to
        }
        expect(Buffer.concat(passed as Buffer[])).toEqual(expected)
        expect([reader.take(1)?.list.raw, reader.take(3)?.list.raw]).toEqual([
          ['x', 'one'],
          ['y', 'z', 'x', 'one'],
        ])
      }),
    )
  })

  it('never throws on arbitrary input', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        const reader = readerOf()
        for (const chunk of chunks) reader.read(Buffer.from(chunk))
      }),
    )
  })
})
