import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start: listen, dial } = usePlainServer()

async function start(handle: (request: ApiRequest) => Promise<ApiResponse> | ApiResponse) {
  await listen(handle, { limits: { idleTimeoutMs: 7000 } })
  return dial()
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`
const headers = { 'audit-id': 'a-1', 'x-text': 'Grüße\n', 'bad name': 'x', warning: ['299 - "a"', '299 - "b"'] }
const lengths = /content-length: \d+/
const head = (received: string) =>
  received
    .slice(0, received.indexOf('\r\n\r\n'))
    .replace(lengths, '')
    .replace(/Date: .*/, 'Date')

describe('a response', () => {
  it('has the same head when small and large', async () => {
    const client = await start(({ path }) => {
      const made = textResponse(path === '/large' ? 'x'.repeat(20_000) : 'small')
      return { ...made, headers: { ...made.headers, ...headers } }
    })
    const small = head(await client.send(get('/small')).until('small'))
    client.received = ''
    const large = head(await client.send(get('/large')).until('x'.repeat(20_000)))
    expect(small).toBe(large)
    expect(small).toContain('Keep-Alive: timeout=7')
  })

  it('leaves the connection to the next request, in the order of requests', async () => {
    const pending = new Map<string, () => void>()
    const client = await start(
      ({ path }) => new Promise<ApiResponse>((resolve) => pending.set(path, () => resolve(textResponse(`of ${path}`)))),
    )
    client.send(get('/1') + get('/2'))
    while (pending.size < 2) await new Promise((resolve) => setImmediate(resolve))
    pending.get('/2')?.()
    pending.get('/1')?.()
    await client.until('of /2')
    expect(client.received).toMatch(/of \/1HTTP[\s\S]*of \/2$/)
    client.send(get('/3'))
    while (!pending.has('/3')) await new Promise((resolve) => setImmediate(resolve))
    pending.get('/3')?.()
    await client.until('of /3')
  })

  it.each(['connection', 'date', 'transfer-encoding'])('keeps its header %s', async (name) => {
    const value = { connection: 'close', date: 'now', 'transfer-encoding': 'chunked' }[name] as string
    const client = await start(() => textResponse('body', { headers: { [name]: value } }))
    const received = await client.send(get('/')).until('body')
    expect(received.toLowerCase().match(new RegExp(`^${name}: .*$`, 'gm'))).toEqual([`${name}: ${value}`])
  })

  it('does not abort the signal of its request when the connection closes later', async () => {
    let request: ApiRequest | undefined
    const client = await start((incoming) => {
      request = incoming
      void incoming.signal
      return textResponse('body')
    })
    await client.send(get('/')).until('body')
    client.socket.destroy()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(request?.signal.aborted).toBe(false)
  })
})
