import { describe, expect, it } from 'vitest'
import { rangeRequest, rangeResponse, txnRequest, watchResponse } from './messages.ts'

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
