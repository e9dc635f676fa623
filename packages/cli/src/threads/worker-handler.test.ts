import type { ApiRequest } from '@krmkit/protocol'
import { StorageError } from '@krmkit/storage'
import { expect, it } from 'vitest'
import { textOf } from './response-text.ts'
import { workerHandler } from './worker-handler.ts'

/** A handler whose parts record that they were called. */
function recordedHandler(refresh: () => Promise<void> = async () => undefined) {
  const calls: string[] = []
  const answer = (text: string) => ({ status: 200, headers: {}, body: { kind: 'bytes', bytes: Buffer.from(text) } }) as const
  const handle = workerHandler(
    {
      handle: async () => {
        calls.push('handle')
        return answer('worker')
      },
    },
    {
      simulatesNodes: false,
      storage: {
        count: () => 0,
        refresh: async () => {
          await refresh()
          calls.push('refresh')
        },
      },
      writer: {
        send: async () => {
          calls.push('send')
          return answer('writer')
        },
        close: () => undefined,
      },
    },
  )
  const send = (method: string, path: string) => {
    const { signal } = new AbortController()
    const request: ApiRequest = { method, path, query: '', headers: {}, body: async () => new Uint8Array(), peer: {}, signal }
    return handle(request)
  }
  return { calls, send }
}

it('handles every request at a state that is as new as all acknowledged writes', async () => {
  const { calls, send } = recordedHandler()
  expect(textOf(await send('GET', '/api/v1/pods'))).toBe('worker')
  await send('POST', '/api/v1/namespaces/default/pods')
  expect(calls).toEqual(['refresh', 'handle', 'refresh', 'handle'])
})

it('answers a forwarded write when its event has arrived', async () => {
  const { calls, send } = recordedHandler()
  expect(textOf(await send('POST', '/api/v1/namespaces/default/services'))).toBe('writer')
  expect(calls).toEqual(['refresh', 'send', 'refresh'])
})

it('answers health checks without the writer', async () => {
  const { calls, send } = recordedHandler()
  for (const path of ['/livez', '/readyz/ping', '/healthz']) await send('GET', path)
  expect(calls).toEqual(['handle', 'handle', 'handle'])
})

it('is unavailable while the writer cannot be reached', async () => {
  const { calls, send } = recordedHandler(() =>
    Promise.reject(new StorageError({ code: 'Unavailable', reason: 'remote', problem: 'lost' })),
  )
  const response = await send('GET', '/api/v1/pods')
  expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect(JSON.parse(textOf(response))).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable', code: 503 })
  expect(calls).toEqual([])
})
