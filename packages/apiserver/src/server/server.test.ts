import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import type { ApiServerOptions } from './options.ts'

describe('responses', () => {
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
  it('of authentication are sent with refused requests', async () => {
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

describe('NamespaceLifecycle', () => {
  const create = async (admission: ApiServerOptions['admission']) => {
    const { ask } = await sampleServer(admission === undefined ? {} : { admission })
    const body = { metadata: { name: 'a' } }
    return (await ask('/api/v1/namespaces/missing/configmaps', { method: 'POST', body })).status
  }

  it('runs unless a factory leaves it out', async () => {
    expect([await create(undefined), await create([]), await create(() => [])]).toEqual([404, 404, 201])
  })
})

describe('the index of paths', () => {
  it('contains the groups of aggregated servers', async () => {
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
  it('receive Strict-Transport-Security when configured', async () => {
    const { ask } = await sampleServer({ strictTransportSecurity: ['max-age=60', 'includeSubDomains'] })
    for (const path of ['/', '/healthz', '/api/v1/namespaces', '/nowhere']) {
      expect((await ask(path)).headers['strict-transport-security']).toBe('max-age=60; includeSubDomains')
    }
    const plain = await sampleServer()
    expect((await plain.ask('/')).headers).not.toHaveProperty('strict-transport-security')
  })
})

describe('custom resources', () => {
  it('cannot replace a group version of the server, but extend its group', async () => {
    const { ask } = await sampleServer()
    const schema = { openAPIV3Schema: { type: 'object' } }
    const version = (name: string, storage: boolean) => ({ name, storage, served: true, schema })
    const spec = {
      group: 'coordination.k8s.io',
      scope: 'Namespaced',
      names: { plural: 'bars', kind: 'Bar' },
      versions: [version('v1', true), version('vfake', false)],
    }
    const metadata = {
      name: 'bars.coordination.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
    }
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    expect((await ask(definitions, { method: 'POST', body: { metadata, spec } })).status).toBe(201)
    const group = '/apis/coordination.k8s.io'
    await expect.poll(async () => (await ask(`${group}/vfake`)).status, { interval: 5 }).toBe(200)
    expect((await ask(`${group}/v1`)).text).not.toContain('bars')
    expect((await ask(`${group}/v1/namespaces/default/bars`)).status).toBe(404)
    const body = { apiVersion: 'coordination.k8s.io/vfake', kind: 'Bar', metadata: { name: 'a' } }
    expect((await ask(`${group}/vfake/namespaces/default/bars`, { method: 'POST', body })).status).toBe(201)
    expect((await ask(`${group}/vfake/namespaces/default/bars/a`)).json.metadata.name).toBe('a')
  })
})
