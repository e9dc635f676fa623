import { createClient, createInformer, resourceType } from '@krmkit/client'
import { fakeClock, stockProfile, systemRandom } from '@krmkit/meta'
import type { TransportRequest, TransportResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { createMetadataClient } from './metadata-client.ts'

const Widget = resourceType({ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })
const Namespace = resourceType({ group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false })

const item = { metadata: { name: 'a', namespace: 'default', resourceVersion: '2' } }
const one = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', ...item }
const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '2' }, items: [one] }

/** A client of a server that, like kube-apiserver, rejects a representation that does not fit the response. */
function partialServer() {
  const seen: string[] = []
  const respond = ({ method, path, query, headers, signal }: TransportRequest): TransportResponse => {
    const accept = String(headers.accept)
    const as = /;as=(\w+)/.exec(accept)?.[1] ?? 'objects'
    const isWatch = query.includes('watch=1')
    seen.push(`${method} ${path}${isWatch ? ' watch' : ''}: ${as}`)
    const isList = /\/(widgets|namespaces)$/.test(path) && method !== 'POST' && !isWatch
    if (path.startsWith('/apis/example.com/v1/') && isList !== (as === 'PartialObjectMetadataList')) {
      return answer(406, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotAcceptable', code: 406 })
    }
    return isWatch ? { ...answer(200, ''), body: until(signal) } : answer(200, isList ? list : one)
  }
  const client = createClient({ send: (request) => Promise.resolve(respond(request)), close: () => Promise.resolve() })
  const metadata = createMetadataClient(client, { clock: fakeClock(), random: systemRandom, profile: stockProfile })
  return { seen, metadata }
}

function answer(status: number, body: unknown): TransportResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const parts = async function* () {
    yield await Promise.resolve(bytes)
  }
  return { status, headers: { 'content-type': 'application/json' }, body: parts() }
}

async function* until(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  yield await new Promise<Uint8Array>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}

describe('createMetadataClient', () => {
  it('requests PartialObjectMetadata for single objects and PartialObjectMetadataList for lists', async () => {
    const { seen, metadata } = partialServer()
    expect(await metadata.get(Widget, 'a')).toMatchObject(item)
    expect((await metadata.list(Widget, { namespace: 'default' })).items).toMatchObject([item])
    expect((await metadata.list(Widget)).items).toMatchObject([item])
    await metadata.deleteCollection(Widget, { namespace: 'default' })
    await metadata.get(Namespace, 'a')
    await metadata.list(Namespace)
    expect(seen).toEqual([
      'GET /apis/example.com/v1/namespaces/default/widgets/a: PartialObjectMetadata',
      'GET /apis/example.com/v1/namespaces/default/widgets: PartialObjectMetadataList',
      'GET /apis/example.com/v1/widgets: PartialObjectMetadataList',
      'DELETE /apis/example.com/v1/namespaces/default/widgets: PartialObjectMetadataList',
      'GET /api/v1/namespaces/a: PartialObjectMetadata',
      'GET /api/v1/namespaces: PartialObjectMetadataList',
    ])
  })

  it('requests PartialObjectMetadata for created, patched and deleted objects', async () => {
    const { seen, metadata } = partialServer()
    await metadata.create(Widget, item, { namespace: 'default' })
    await metadata.patch(Widget, 'a', { type: 'merge', patch: {} })
    await metadata.delete(Widget, 'a')
    expect(seen.map((line) => line.replace(/.*: /, ''))).toEqual(Array(3).fill('PartialObjectMetadata'))
  })

  it('feeds an informer from a list and a watch', async () => {
    const { seen, metadata } = partialServer()
    const informer = createInformer(metadata, Widget)
    await informer.synced
    expect(informer.list()).toMatchObject([item])
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual([
      'GET /apis/example.com/v1/widgets: PartialObjectMetadataList',
      'GET /apis/example.com/v1/widgets watch: PartialObjectMetadata',
    ])
    await informer[Symbol.asyncDispose]()
  })

  it('does not set an Accept header for discovery documents', async () => {
    const { seen, metadata } = partialServer()
    await metadata.request({ path: '/apis/example.com/v1' })
    await metadata.request({ path: '/version' })
    expect(seen).toEqual(['GET /apis/example.com/v1: objects', 'GET /version: objects'])
  })
})
