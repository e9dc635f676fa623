import { createClient } from '@krmkit/client'
import { stockProfile } from '@krmkit/meta'
import type { TransportRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { discover } from './discovery.ts'

type Answer = { readonly status?: number; readonly body: unknown }

/** Creates a client of a server that serves only these documents. */
function clientOf(answers: Readonly<Record<string, Answer>>) {
  const requestedPaths: string[] = []
  const client = createClient({
    async send({ path }: TransportRequest) {
      requestedPaths.push(path)
      const { status = 200, body } = answers[path] ?? { status: 404, body: failure(404, 'NotFound') }
      return { status, headers: {}, body: pieces(JSON.stringify(body)) }
    },
    close: () => Promise.resolve(),
  })
  const signal = new AbortController().signal
  return { requestedPaths, discovered: discover(client, { profile: stockProfile, signal }) }
}

async function* pieces(text: string) {
  yield Buffer.from(text)
}

function failure(code: number, reason: string) {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code, message: reason }
}

const verbs = ['create', 'delete', 'get', 'list', 'watch']
const aggregatedPods = {
  resource: 'pods',
  responseKind: { group: '', version: '', kind: 'Pod' },
  scope: 'Namespaced',
  verbs,
  subresources: [{ subresource: 'status' }],
}
const core = { metadata: {}, versions: [{ version: 'v1', resources: [aggregatedPods], freshness: 'Current' }] }
const widgets = { resource: 'widgets', responseKind: { kind: 'Widget' }, scope: 'Cluster', verbs }
const gadgets = { resource: 'gadgets', responseKind: { kind: 'Gadget' }, scope: 'Cluster', verbs }
const shop = {
  metadata: { name: 'shop.example.com' },
  versions: [
    { version: 'v2', resources: [widgets], freshness: 'Current' },
    { version: 'v1', resources: [widgets, gadgets], freshness: 'Stale' },
  ],
}
const list = (items: unknown[]) => ({ body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items } })

describe('discover', () => {
  it('needs two requests with aggregated discovery', async () => {
    const { requestedPaths, discovered } = clientOf({ '/api': list([core]), '/apis': list([shop]) })
    const { all, preferred, failures, ofKind } = await discovered
    expect(requestedPaths).toEqual(['/api', '/apis'])
    expect(all.map(({ version, resource }) => `${resource}/${version}`)).toEqual([
      'pods/v1',
      'widgets/v2',
      'widgets/v1',
      'gadgets/v1',
    ])
    expect(preferred.map(({ version, resource }) => `${resource}/${version}`)).toEqual(['pods/v1', 'widgets/v2', 'gadgets/v1'])
    expect([...failures.keys()]).toEqual(['shop.example.com/v1'])
    expect(ofKind('v1', 'Pod')).toMatchObject({ resource: 'pods', namespaced: true, subresources: new Set(['status']) })
    expect(ofKind('shop.example.com/v1', 'Widget')).toMatchObject({ version: 'v1', namespaced: false })
    expect(ofKind('shop.example.com/v3', 'Widget')).toBeUndefined()
  })

  it('falls back to one request per version and skips failures', async () => {
    const groups = [
      {
        name: 'shop.example.com',
        versions: [{ version: 'v1' }, { version: 'v2' }],
        preferredVersion: { version: 'v2' },
      },
      { name: 'broken.example.com', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    ]
    const discoverByVersion = (name: string, kind: string, namespaced: boolean) => ({ name, kind, namespaced, verbs })
    const { requestedPaths, discovered } = clientOf({
      '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
      '/apis': { body: { kind: 'APIGroupList', groups } },
      '/api/v1': { body: { resources: [discoverByVersion('pods', 'Pod', true), discoverByVersion('pods/status', 'Pod', true)] } },
      '/apis/shop.example.com/v1': { body: { resources: [discoverByVersion('widgets', 'Widget', false)] } },
      '/apis/shop.example.com/v2': { body: { resources: [discoverByVersion('widgets', 'Widget', false)] } },
      '/apis/broken.example.com/v1': { status: 503, body: failure(503, 'ServiceUnavailable') },
    })
    const { all, preferred, failures } = await discovered
    expect(requestedPaths).toHaveLength(6)
    expect(all.map(({ version, resource }) => `${resource}/${version}`)).toEqual(['pods/v1', 'widgets/v2', 'widgets/v1'])
    expect(all[0]!.subresources).toEqual(new Set(['status']))
    expect(preferred.map(({ version, resource }) => `${resource}/${version}`)).toEqual(['pods/v1', 'widgets/v2'])
    expect([...failures]).toEqual([['broken.example.com/v1', 'ServiceUnavailable']])
  })

  it('skips a missing root', async () => {
    const { discovered } = clientOf({ '/api': list([core]) })
    expect((await discovered).all).toHaveLength(1)
  })

  it('rejects when the server fails', async () => {
    const { discovered } = clientOf({ '/api': { status: 500, body: failure(500, 'InternalError') } })
    await expect(discovered).rejects.toMatchObject({ reason: 'InternalError' })
  })
})
