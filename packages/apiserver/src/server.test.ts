import { describe, expect, it } from 'vitest'
import { sampleServer } from './testing/sample-server.ts'

describe('answers', () => {
  it.each(['/', '/healthz', '/api', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/metrics', '/api/v1/namespaces', '/nowhere'])(
    'of %s are not kept by shared caches',
    async (path) => {
      const { ask } = await sampleServer()
      const { headers } = await ask(path)
      expect(headers['cache-control']).toContain('private')
    },
  )
})

describe('warnings', () => {
  it('about who is calling reach those who are refused', async () => {
    const authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '' }) as const }
    const authenticator = {
      authenticate: async () =>
        ({ kind: 'authenticated', user: { username: 'old', groups: [] }, warnings: ['an old token'] }) as const,
    }
    const { ask } = await sampleServer({ authorizer, authenticator } as never)
    const { status, headers } = await ask('/api/v1/secrets', { user: undefined as never })
    expect(status).toBe(403)
    expect(headers.warning).toEqual(['299 - "an old token"'])
  })
})
