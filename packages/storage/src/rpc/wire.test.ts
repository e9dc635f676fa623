import protobuf from 'protobufjs/minimal.js'
import { describe, expect, it } from 'vitest'
import { rangeRequest, rangeResponse, txnRequest, watchResponse } from '../etcd/messages.ts'

describe('messages of etcd', () => {
  it('are encoded by number, without absent members', () => {
    const bytes = rangeRequest.encode({ key: Uint8Array.of(0x61), limit: 300, keys_only: true })
    expect([...bytes]).toEqual([0x0a, 1, 0x61, 0x18, 0xac, 0x02, 0x40, 1])
  })

  it('keep revisions beyond 32 bits', () => {
    const revision = 2 ** 40 + 7
    const bytes = rangeRequest.encode({ key: new Uint8Array(), revision })
    expect(rangeRequest.decode(bytes).revision).toBe(revision)
  })

  it('read negative numbers', () => {
    expect(watchResponse.decode(watchResponse.encode({ watch_id: -1 })).watch_id).toBe(-1)
  })

  it.each([0, 127, 128, 2 ** 31, 2 ** 32 - 1, 2 ** 49 - 1, 2 ** 49, Number.MAX_SAFE_INTEGER, -5, Number.MIN_SAFE_INTEGER])(
    'are the same in another library: %d',
    (revision) => {
      const bytes = rangeRequest.encode({ key: new Uint8Array(), revision })
      const reader = protobuf.Reader.create(bytes)
      expect([reader.uint32(), reader.bytes().length, reader.uint32()]).toEqual([0x0a, 0, 0x20])
      expect(Number(reader.int64().toString())).toBe(revision)
      expect(rangeRequest.decode(bytes).revision).toBe(revision)
    },
  )

  it('hold values of every size', () => {
    for (const size of [0, 1, 127, 128, 20_000, 3_000_000]) {
      const value = new Uint8Array(size).fill(7)
      const read = txnRequest.decode(txnRequest.encode({ success: [{ request_put: { key: Uint8Array.of(1), value } }] }))
      expect(Buffer.compare(read.success[0]?.request_put?.value ?? new Uint8Array(), value)).toBe(0)
    }
  })

  it('are refused when they are cut off', () => {
    const bytes = rangeResponse.encode({ header: { revision: 300 }, count: 300 })
    for (let end = 1; end < bytes.length; end++) {
      const part = bytes.subarray(0, end)
      if (end !== 5) expect(() => rangeResponse.decode(part), String(end)).toThrow(RangeError)
    }
    expect(() => rangeResponse.decode(Uint8Array.of(0x23))).toThrow(RangeError)
    expect(() => rangeResponse.decode(Uint8Array.of(0x20, ...Array.from({ length: 10 }, () => 0xff)))).toThrow(RangeError)
  })

  it('contain other messages, also repeated', () => {
    const key = Uint8Array.of(1)
    const request = {
      compare: [{ result: 0, target: 2, key, mod_revision: 5 }],
      success: [{ request_put: { key, value: Uint8Array.of(2), lease: 9 } }, { request_delete_range: { key } }],
      failure: [],
    }
    const read = txnRequest.decode(txnRequest.encode(request))
    expect(read.compare[0]).toMatchObject({ target: 2, mod_revision: 5 })
    expect(read.success[0]?.request_put).toEqual({ key, value: Uint8Array.of(2), lease: 9 })
    expect(read.success[1]?.request_delete_range).toMatchObject({ key })
    expect(read.failure).toEqual([])
  })

  it('skip fields that are not described', () => {
    const unknown = [0xa2, 0x06, 2, 1, 2, 0xa0, 0x06, 1]
    expect(rangeResponse.decode(Uint8Array.from([...unknown, 0x20, 3]))).toMatchObject({ count: 3, kvs: [] })
  })
})
