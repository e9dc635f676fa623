import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { bindPod, endPod, labels, pods, setPodStatus, startWith } from './workloads.fixture.ts'

interface Slice extends ApiObject {
  addressType?: string
  ports?: { name: string; port: number }[]
  endpoints?: { addresses: string[]; conditions: object; targetRef?: { name: string }; zone?: string; hints?: object }[]
}
interface Endpoints extends ApiObject {
  subsets?: { addresses?: { ip: string }[]; notReadyAddresses?: { ip: string }[]; ports?: object[] }[]
}

const core = { group: '', version: 'v1' }
const services = resourceType({ ...core, resource: 'services', kind: 'Service' })
const endpointsType = resourceType<Endpoints>({ ...core, resource: 'endpoints', kind: 'Endpoints' })
const slices = resourceType<Slice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
})

function service(spec: object = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', labels: { team: 'a' } },
    spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'web' }], ...spec },
  }
}

function pod(name: string, { port = 8080, ...spec }: { port?: number; [member: string]: unknown } = {}): ApiObject {
  const ports = [{ name: 'web', containerPort: port }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: { containers: [{ name: 'c', image: 'web:1', ports }], ...spec },
  }
}

const node: ApiObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels: { 'topology.kubernetes.io/zone': 'a' } },
}

async function up(server: TestServer, name: string, ip: string, ready = true): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }]
  await setPodStatus(server, name, { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions })
  await server.settle()
}

const controllers = ['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller']
const start = (...seed: ApiObject[]) => startWith(controllers, [node, ...seed])
const slicesOf = async ({ client }: TestServer) =>
  (await client.list(slices, { namespace: 'default', labelSelector: 'kubernetes.io/service-name=web' })).items
const addressesOf = async (server: TestServer) =>
  (await slicesOf(server)).flatMap(({ endpoints = [] }) => endpoints?.flatMap(({ addresses }) => addresses) ?? []).sort()
const subsetsOf = async ({ client }: TestServer) => (await client.get(endpointsType, 'web')).subsets

describe('endpoint slice controller', () => {
  it('keeps a slice without endpoints for a service without pods', async () => {
    await using server = await start(service())
    const [slice, ...others] = await slicesOf(server)
    expect([others, slice?.endpoints ?? [], slice?.ports ?? []]).toEqual([[], [], []])
    expect(slice?.metadata).toMatchObject({
      generateName: 'web-',
      labels: {
        team: 'a',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', controller: true, blockOwnerDeletion: true }],
    })
  })

  it('follows changes of the pods of the service', async () => {
    await using server = await start(
      service({ trafficDistribution: 'PreferClose' }),
      pod('a'),
      pod('b', { hostname: 'b', subdomain: 'web' }),
    )
    await bindPod(server, 'a', 'node-1')
    await up(server, 'a', '10.0.0.1')
    await up(server, 'b', '10.0.0.2', false)
    const [slice, ...others] = await slicesOf(server)
    const { uid } = (await server.client.get(pods, 'a')).metadata
    expect([others, slice?.ports]).toEqual([[], [{ name: 'http', port: 8080, protocol: 'TCP' }]])
    expect(slice?.endpoints).toEqual([
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: 'node-1',
        zone: 'a',
        hints: { forZones: [{ name: 'a' }] },
        targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid },
      },
      expect.objectContaining({
        addresses: ['10.0.0.2'],
        hostname: 'b',
        conditions: { ready: false, serving: false, terminating: false },
      }),
    ])
    await endPod(server, 'a')
    await server.settle()
    expect(await addressesOf(server)).toEqual(['10.0.0.2'])
    await server.client.patch(pods, 'b', { type: 'merge', patch: { metadata: { labels: { app: 'else' } } } })
    await server.settle()
    expect(await addressesOf(server)).toEqual([])
    expect(await slicesOf(server)).toHaveLength(1)
  })

  it('marks terminating pods', async () => {
    await using server = await start(service(), pod('a'))
    await bindPod(server, 'a', 'node-1')
    await up(server, 'a', '10.0.0.1')
    await server.client.delete(pods, 'a')
    await server.settle()
    const [slice] = await slicesOf(server)
    expect(slice?.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: true, terminating: true })
    expect(await subsetsOf(server)).toBeUndefined()
  })

  it('has a slice for each set of container ports', async () => {
    await using server = await start(service(), pod('a'), pod('b', { port: 9090 }))
    await up(server, 'a', '10.0.0.1')
    await up(server, 'b', '10.0.0.2')
    const found = (await slicesOf(server)).map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints?.[0]?.targetRef?.name])
    expect(found.sort()).toEqual([
      [8080, 'a'],
      [9090, 'b'],
    ])
  })

  it('puts at most 100 endpoints into a slice', async () => {
    const names = Array.from({ length: 105 }, (_, i) => `p-${i}`)
    await using server = await startWith(
      ['endpointslice-controller'],
      names.map((name) => pod(name)),
    )
    for (const [i, name] of names.entries()) {
      const ip = `10.0.1.${i + 1}`
      await setPodStatus(server, name, { phase: 'Running', podIP: ip, podIPs: [{ ip }] })
    }
    await server.settle()
    await server.client.create(services, service())
    await server.settle()
    const sizes = (await slicesOf(server)).map(({ endpoints }) => endpoints?.length ?? 0)
    expect(sizes.sort((a, b) => a - b)).toEqual([5, 100])
    expect(await addressesOf(server)).toHaveLength(105)
  })
})

describe('endpoints controller', () => {
  it('follows changes of the pods of the service', async () => {
    await using server = await start(service(), pod('a'), pod('b'))
    await up(server, 'a', '10.0.0.1')
    await up(server, 'b', '10.0.0.2', false)
    const { metadata, subsets } = await server.client.get(endpointsType, 'web')
    expect(metadata.labels).toEqual({ team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })
    expect(subsets).toEqual([
      {
        addresses: [{ ip: '10.0.0.1', targetRef: expect.objectContaining({ kind: 'Pod', name: 'a' }) }],
        notReadyAddresses: [{ ip: '10.0.0.2', targetRef: expect.objectContaining({ name: 'b' }) }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ])
    await server.client.delete(services, 'web')
    await server.settle()
    await expect(server.client.get(endpointsType, 'web')).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('publishes addresses that are not ready if the service requests it', async () => {
    await using server = await start(service({ publishNotReadyAddresses: true, clusterIP: 'None', ports: [] }), pod('a'))
    await up(server, 'a', '10.0.0.1', false)
    expect(await subsetsOf(server)).toEqual([{ addresses: [expect.objectContaining({ ip: '10.0.0.1' })] }])
    expect((await server.client.get(endpointsType, 'web')).metadata.labels).toHaveProperty('service.kubernetes.io/headless')
  })
})

describe('endpoint slice mirroring controller', () => {
  const endpoints: ApiObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default', labels: { team: 'b' } },
    subsets: [
      { addresses: [{ ip: '192.0.2.1' }], notReadyAddresses: [{ ip: '192.0.2.2' }], ports: [{ name: 'http', port: 80 }] },
      { addresses: [{ ip: '2001:db8::1' }], ports: [{ name: 'http', port: 80 }] },
    ],
  }

  it('mirrors Endpoints of services without a selector', async () => {
    await using server = await start(service({ selector: null }), endpoints)
    const found = (await slicesOf(server)).sort((a, b) => ((a.addressType ?? '') < (b.addressType ?? '') ? -1 : 1))
    expect(found.map(({ addressType, endpoints: each }) => [addressType, each])).toEqual([
      [
        'IPv4',
        [
          { addresses: ['192.0.2.1'], conditions: { ready: true } },
          { addresses: ['192.0.2.2'], conditions: { ready: false } },
        ],
      ],
      ['IPv6', [{ addresses: ['2001:db8::1'], conditions: { ready: true } }]],
    ])
    expect(found[0]?.metadata.labels).toEqual({
      team: 'b',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    })
    await server.client.patch(endpointsType, 'web', {
      type: 'merge',
      patch: { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } },
    })
    await server.settle()
    expect(await slicesOf(server)).toEqual([])
  })
})
