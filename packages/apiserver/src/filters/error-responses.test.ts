import { systemMasters } from '@krmkit/authorization'
import { StorageError } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { contextOf, done, sampleServer } from '../testing/sample-server.ts'
import { errorResponses } from './error-responses.ts'

const jane = { username: 'jane', groups: ['system:authenticated'] }

describe('error responses', () => {
  it('convert errors to responses', async () => {
    const filter = errorResponses((_request, error) => ({ ...done, status: (error as { code: number }).code }))
    expect((await filter(contextOf('/'), () => Promise.reject(Object.assign(new Error('x'), { code: 418 })))).status).toBe(418)
    expect(await filter(contextOf('/'), async () => done)).toBe(done)
  })

  it('count in metrics and carry CORS headers', async () => {
    const { ask } = await sampleServer({ authorizer: systemMasters, corsAllowedOrigins: [/^https:\/\/ui\.example\.com$/] })
    const refused = await ask('/api/v1/pods', { user: jane, headers: { origin: 'https://ui.example.com' } })
    expect(refused.status).toBe(403)
    expect(refused.headers['access-control-allow-origin']).toBe('https://ui.example.com')
    const { text } = await ask('/metrics')
    expect(text).toMatch(/apiserver_request_total\{code="403",.*resource="pods",.*verb="LIST",.*\} 1/)
  })

  it('hide the reason of internal errors', async () => {
    const faults: unknown[] = []
    const broken = new Error('secret reason')
    const { ask } = await sampleServer({
      authorizer: { authorize: () => Promise.reject(broken) },
      onError: (error) => void faults.push(error),
    })
    const { status, text } = await ask('/api/v1/pods')
    expect(status).toBe(500)
    expect(text).not.toContain('secret reason')
    expect(faults).toEqual([broken])
  })

  it.each([
    ['journal', 503, '1'],
    ['remote', 503, '1'],
    ['outcome', 504, undefined],
    ['corrupt', 500, undefined],
  ] as const)(
    'of a store that cannot write (%s) tell clients whether to repeat the request',
    async (reason, code, retryAfter) => {
      const failure = new StorageError({ code: 'Unavailable', reason, problem: 'disk full' })
      const { ask } = await sampleServer({ authorizer: { authorize: () => Promise.reject(failure) }, onError: () => undefined })
      const { status, headers } = await ask('/api/v1/pods')
      expect([status, headers['retry-after']]).toEqual([code, retryAfter])
    },
  )
})
