import { describe, expect, it } from 'vitest'
import { textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start, dial } = usePlainServer()

describe('invalid HTTP/1.1 heads', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', '400'],
    ['a line feed in a header', 'GET / HTTP/1.1\r\nHost: h\r\nX: a\x00b\r\n\r\n', '400'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', '400'],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', '400'],
    ['too many header bytes', `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(5000)}\r\n\r\n`, '431'],
    ['CONNECT', 'CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n', '405'],
    ['a header on two lines', 'GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n', '400'],
    ['a length that is sent twice', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx', '400'],
    ['another coding before chunks', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', '501'],
    ['another coding behind chunks', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n', '400'],
    ['an unknown coding', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', '501'],
    ['chunks over HTTP/1.0', 'POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', '400'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', '400'],
    ['a request line alone', 'GET /\r\n\r\n', '400'],
    ['HTTP/0.9 by name', 'GET / HTTP/0.9\r\nHost: h\r\n\r\n', '505'],
    ['HTTP/2.0 as text', 'GET / HTTP/2.0\r\nHost: h\r\n\r\n', '505'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
    ['more header fields than are kept', `GET / HTTP/1.1\r\nHost: h\r\n${'X:\r\n'.repeat(128)}\r\n`, '431'],
    ['another expectation', 'GET / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\n\r\n', '417'],
  ])('rejects %s', async (_, head, status) => {
    let handled = 0
    await start(
      () => {
        handled++
        return textResponse('fine')
      },
      { limits: { headerBytes: 4096 } },
    )
    const client = dial().send(head)
    if (/close/.test(await client.until('\r\n\r\n'))) await client.closed
    expect(client.received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(client.received.split('HTTP/1.1 ')).toHaveLength(2)
    expect(handled).toBe(0)
  })

  it('ignores an upgrade that the handler does not take', async () => {
    await start((request) => textResponse(`no ${String(request.headers.upgrade)}`))
    const client = dial().send('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
    expect(await client.until('no SPDY/3.1')).toContain('HTTP/1.1 200 ')
  })

  it('times out a client that never completes its head', async () => {
    await start(() => textResponse('fine'), { limits: { headersTimeoutMs: 50, requestTimeoutMs: 100 } })
    const client = dial().send('GET / HTTP/1.1\r\nHost')
    await client.closed
    expect(client.received).toContain('HTTP/1.1 408 ')
  })
})
