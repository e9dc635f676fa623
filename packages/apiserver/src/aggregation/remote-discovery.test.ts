import { fakeClock, stockProfile } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { RemoteDiscovery } from './remote-discovery.ts'
import type { FetchOptions, RemoteService } from './remote-service.ts'

const signal = new AbortController().signal
const at = { group: 'g', version: 'v1', signal }
const clock = fakeClock(0)

type Handle = (path: string, options: FetchOptions) => { status?: number; headers?: Record<string, string>; body?: unknown }

function remote(handle: Handle, sentRequests: string[] = []): RemoteService {
  const fetch = async (path: string, options: FetchOptions): Promise<ApiResponse> => {
    sentRequests.push(`${path} ${options.user.groups.join()} ${options.headers?.['if-none-match'] ?? ''}`.trim())
    const { status = 200, headers = {}, body = {} } = handle(path, options)
    return { status, headers, body: { kind: 'bytes', bytes: new TextEncoder().encode(JSON.stringify(body)) } }
  }
  return { id: 'ns/s:443', fetch } as RemoteService
}

const all = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const discoveryList = {
  kind: 'APIGroupDiscoveryList',
  items: [{ metadata: { name: 'g' }, versions: [{ version: 'v1', resources: [{ resource: 'a', responseKind: {} }] }] }],
}

describe('discovery of other servers', () => {
  it('fetches aggregated discovery once, then revalidates it', async () => {
    const sentRequests: string[] = []
    const discovery = new RemoteDiscovery({ clock, profile: stockProfile })
    const server = remote((_, { headers }) => {
      expect(headers?.accept).toContain('v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1')
      if (headers?.['if-none-match'] === '"1"') return { status: 304 }
      return { headers: { 'content-type': all, etag: '"1"' }, body: discoveryList }
    }, sentRequests)
    expect(await discovery.resources(server, at)).toMatchObject([{ resource: 'a' }])
    expect(await discovery.resources(server, at)).toMatchObject([{ resource: 'a' }])
    expect(await discovery.resources(server, { ...at, version: 'v7' })).toBeUndefined()
    discovery.retain(new Set())
    await discovery.resources(server, at)
    expect(sentRequests).toEqual([
      '/apis system:masters',
      '/apis system:masters "1"',
      '/apis system:masters "1"',
      '/apis system:masters',
    ])
  })

  it('fetches each group version from a server without aggregated discovery', async () => {
    const sentRequests: string[] = []
    const discovery = new RemoteDiscovery({ clock, profile: stockProfile })
    const list = { kind: 'APIResourceList', resources: [{ name: 'a', kind: 'A', verbs: ['get'] }] }
    const groups = { kind: 'APIGroupList', groups: [] }
    const server = remote(
      (path) => ({ headers: { 'content-type': 'application/json' }, body: path === '/apis' ? groups : list }),
      sentRequests,
    )
    expect(await discovery.resources(server, at)).toMatchObject([{ resource: 'a' }])
    expect(await discovery.resources(server, { group: '', version: 'v1', signal })).toMatchObject([{ resource: 'a' }])
    expect(sentRequests).toEqual(['/apis system:masters', '/apis/g/v1', '/apis system:masters', '/api/v1'])
  })

  it('rejects error responses and invalid documents', async () => {
    const discovery = new RemoteDiscovery({ clock, profile: stockProfile })
    await expect(
      discovery.resources(
        remote(() => ({ status: 503 })),
        at,
      ),
    ).rejects.toThrow('503')
    await expect(
      discovery.resources(
        remote(() => ({ status: 403 })),
        at,
      ),
    ).rejects.toThrow('403')
    await expect(
      discovery.resources(
        remote(() => ({ headers: { 'content-type': all }, body: [] })),
        at,
      ),
    ).rejects.toThrow('not an API')
  })

  it('rejects after 5 seconds without a response', async () => {
    const discovery = new RemoteDiscovery({ clock, profile: stockProfile })
    const fetch = (_: string, { signal: ended }: FetchOptions) =>
      new Promise<ApiResponse>((_resolve, reject) => {
        ended.addEventListener('abort', () => reject(new Error('gone')))
      })
    const pending = discovery.resources({ id: 'x', fetch } as unknown as RemoteService, at)
    clock.advance(5_000)
    await expect(pending).rejects.toThrow('context deadline exceeded')
  })
})
