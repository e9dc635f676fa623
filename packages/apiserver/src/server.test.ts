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

describe('the index of paths', () => {
  it('has the groups of other servers', async () => {
    const { ask } = await sampleServer({ aggregation: {} })
    const spec = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 }
    const service = { namespace: 'default', name: 'away' }
    const body = { metadata: { name: 'v1.g.example.com' }, spec: { ...spec, service, insecureSkipTLSVerify: true } }
    const { status } = await ask('/apis/apiregistration.k8s.io/v1/apiservices', { method: 'POST', body })
    expect(status).toBe(201)
    const paths = async () => (await ask('/')).json.paths.filter((path: string) => path.includes('g.example.com'))
    await expect.poll(paths, { interval: 5 }).toEqual(['/apis/g.example.com', '/apis/g.example.com/v1'])
  })
})

describe('browsers', () => {
  it('are told to come over TLS alone, if that is wanted', async () => {
    const { ask } = await sampleServer({ strictTransportSecurity: ['max-age=60', 'includeSubDomains'] })
    for (const path of ['/', '/healthz', '/api/v1/namespaces', '/nowhere']) {
      expect((await ask(path)).headers['strict-transport-security']).toBe('max-age=60; includeSubDomains')
    }
    const plain = await sampleServer()
    expect((await plain.ask('/')).headers).not.toHaveProperty('strict-transport-security')
  })
})
