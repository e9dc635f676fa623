import { resourceType } from '@krmkit/client'
import { runControllers, type ServerFacts, serverControllers } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { configMaps, namesOf } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

type Loose = ApiObject & {
  spec?: { renewTime?: string; clusterIP?: string; ports?: object[]; parentRef?: object }
  status?: { conditions?: { type: string; status: string }[] }
}
type Slice = Loose & { endpoints: { addresses: string[] }[]; ports: object[]; addressType: string }

const services = resourceType<Loose>({ group: '', version: 'v1', resource: 'services', kind: 'Service' })
const endpoints = resourceType<Loose & { subsets?: object[] }>({
  group: '',
  version: 'v1',
  resource: 'endpoints',
  kind: 'Endpoints',
})
const slices = resourceType<Slice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
})
const leases = resourceType<Loose>({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' })
const clusterWide = { group: 'networking.k8s.io', version: 'v1', namespaced: false }
const serviceCIDRs = resourceType<Loose>({ ...clusterWide, resource: 'servicecidrs', kind: 'ServiceCIDR' })
const ipAddresses = resourceType<Loose>({ ...clusterWide, resource: 'ipaddresses', kind: 'IPAddress' })
const inSystem = { namespace: 'kube-system' }

const factsOf = (name: string, address: string): ServerFacts => ({
  name,
  holder: `${name}_1`,
  hostname: 'here',
  address,
  port: 6443,
  serviceRanges: ['10.0.0.0/24'],
  serviceAddress: '10.0.0.1',
})

async function cluster(...facts: readonly ServerFacts[]) {
  const made = await createTestServer({ controllers: [] })
  const errors: unknown[] = []
  const running = facts.map((each) =>
    runControllers({
      client: made.as({ username: 'system:apiserver', groups: ['system:masters'] }),
      clock: made.clock,
      available: serverControllers(each),
      fieldManager: 'kube-apiserver',
      onError: (error) => errors.push(error),
    }),
  )
  const settled = async () => {
    for (const each of running) await each.settled()
  }
  await settled()
  const end = async () => {
    for (const each of running) await each.close()
    await made.close()
  }
  return Object.assign(made, { running, errors, settled, [Symbol.asyncDispose]: end })
}

describe('objects of the server', () => {
  it('include its service, endpoints, Lease and service ranges', async () => {
    await using made = await cluster(factsOf('apiserver-a', '10.1.0.5'))
    const { client } = made
    const service = await client.get(services, 'kubernetes')
    expect(service.metadata.labels).toEqual({ component: 'apiserver', provider: 'kubernetes' })
    expect(service.spec).toMatchObject({
      clusterIP: '10.0.0.1',
      ports: [{ name: 'https', port: 443, targetPort: 6443, protocol: 'TCP' }],
    })
    const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }]
    expect((await client.get(endpoints, 'kubernetes')).subsets).toEqual([{ addresses: [{ ip: '10.1.0.5' }], ports }])
    const slice = await client.get(slices, 'kubernetes')
    expect(slice).toMatchObject({ addressType: 'IPv4', endpoints: [{ addresses: ['10.1.0.5'] }], ports })
    expect(slice.metadata.labels).toEqual({ 'kubernetes.io/service-name': 'kubernetes' })
    const lease = await client.get(leases, 'apiserver-a', inSystem)
    expect(lease.metadata.labels).toEqual({
      'apiserver.kubernetes.io/identity': 'kube-apiserver',
      'kubernetes.io/hostname': 'here',
    })
    expect(lease.spec).toMatchObject({ holderIdentity: 'apiserver-a_1', leaseDurationSeconds: 3600 })
    const { spec, status } = await client.get(serviceCIDRs, 'kubernetes')
    expect(spec).toEqual({ cidrs: ['10.0.0.0/24'] })
    expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }])
    expect(namesOf(await client.list(configMaps, inSystem))).toEqual(['kube-apiserver-legacy-service-account-token-tracking'])
    expect(made.errors).toEqual([])
  })

  it('are restored within ten seconds', async () => {
    await using made = await cluster(factsOf('apiserver-a', '10.1.0.5'))
    const { client } = made
    await client.delete(services, 'kubernetes')
    await client.patch(endpoints, 'kubernetes', { type: 'merge', patch: { subsets: null } })
    await client.patch(slices, 'kubernetes', { type: 'merge', patch: { endpoints: [], ports: [] } })
    const { spec: before } = await client.get(leases, 'apiserver-a', inSystem)
    await made.clock.advance({ seconds: 10 })
    await made.settled()
    expect((await client.get(services, 'kubernetes')).spec).toMatchObject({ clusterIP: '10.0.0.1' })
    expect((await client.get(endpoints, 'kubernetes')).subsets).toHaveLength(1)
    expect(await client.get(slices, 'kubernetes')).toMatchObject({ endpoints: [{ addresses: ['10.1.0.5'] }], ports: [{}] })
    expect((await client.get(leases, 'apiserver-a', inSystem)).spec?.renewTime).not.toBe(before?.renewTime)
  })

  it('include every server that renews its Lease, and no expired ones', async () => {
    await using made = await cluster(factsOf('apiserver-a', '10.1.0.5'), factsOf('apiserver-b', '10.1.0.6'))
    const { client, clock, running } = made
    const known = async () => (await client.get(slices, 'kubernetes')).endpoints.flatMap(({ addresses }) => addresses)
    await clock.advance({ seconds: 10 })
    await made.settled()
    expect(await known()).toEqual(['10.1.0.5', '10.1.0.6'])
    await running[1]?.close()
    for (let passed = 0; passed < 7; passed++) await clock.advance({ seconds: 10 })
    await running[0]?.settled()
    expect(await known()).toEqual(['10.1.0.5'])
    const renewTime = new Date(clock.now() - 3_700_000).toISOString().replace('Z', '000Z')
    const old = { holderIdentity: 'x', leaseDurationSeconds: 3600, renewTime }
    const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
    await client.create(leases, { metadata: { name: 'apiserver-old', labels, ...inSystem }, spec: old })
    await clock.advance({ seconds: 10 })
    await running[0]?.settled()
    expect(namesOf(await client.list(leases, inSystem))).toEqual(['apiserver-a', 'apiserver-b'])
  })

  it('include an IPAddress for each service address', async () => {
    await using made = await cluster(factsOf('apiserver-a', '10.1.0.5'))
    const { client } = made
    const addresses = async () => namesOf(await client.list(ipAddresses))
    await client.create(services, { metadata: { name: 's' }, spec: { clusterIP: '10.0.0.9', ports: [{ port: 80 }] } })
    await client.create(services, { metadata: { name: 'none' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } })
    await made.settled()
    expect(await addresses()).toEqual(['10.0.0.1', '10.0.0.9'])
    const made9 = await client.get(ipAddresses, '10.0.0.9')
    expect(made9.metadata.labels).toEqual({
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    })
    expect(made9.spec).toEqual({ parentRef: { resource: 'services', namespace: 'default', name: 's' } })
    await client.delete(ipAddresses, '10.0.0.9')
    await made.settled()
    expect(await addresses()).toContain('10.0.0.9')
    const own = { metadata: { name: '10.0.0.77' }, spec: { parentRef: { resource: 'things', name: 'mine' } } }
    await client.create(ipAddresses, own)
    await client.delete(services, 's')
    await made.settled()
    expect(await addresses()).toEqual(['10.0.0.1', '10.0.0.77'])
    expect(made.errors).toEqual([])
  })
})

describe('servers on one store', () => {
  const shared = (announced: Set<string>) => ({
    addresses: {
      list: async () => [...announced],
      renew: async (address: string) => void announced.add(address),
      remove: async (address: string) => void announced.delete(address),
    },
    repairAllocations: async () => [],
  })

  it('are the endpoints of the API service while they are announced', async () => {
    const announced = new Set(['10.1.0.9'])
    const made = await cluster({ ...factsOf('apiserver-a', '10.1.0.5'), shared: shared(announced) })
    const addresses = [{ ip: '10.1.0.5' }, { ip: '10.1.0.9' }]
    expect((await made.client.get(endpoints, 'kubernetes')).subsets).toMatchObject([{ addresses }])
    announced.delete('10.1.0.9')
    await made.clock.advance({ seconds: 10 })
    await made.settled()
    expect((await made.client.get(endpoints, 'kubernetes')).subsets).toMatchObject([{ addresses: [{ ip: '10.1.0.5' }] }])
    await made[Symbol.asyncDispose]()
    expect([...announced]).toEqual([])
  })

  it('keep the IPAddress of a service that another server is creating, and remove it after a minute', async () => {
    await using made = await cluster({ ...factsOf('apiserver-a', '10.1.0.5'), shared: shared(new Set()) })
    const labels = {
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
    }
    const parentRef = { group: '', resource: 'services', namespace: 'default', name: 'web' }
    await made.client.create(ipAddresses, { metadata: { name: '10.0.0.77', labels }, spec: { parentRef } })
    await made.settled()
    expect(await made.client.get(ipAddresses, '10.0.0.77')).toMatchObject({ spec: { parentRef: { name: 'web' } } })
    await made.clock.advance({ seconds: 65 })
    await made.settled()
    await expect(made.client.get(ipAddresses, '10.0.0.77')).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('maintain no identity Lease and no endpoints if disabled', async () => {
    const facts = { ...factsOf('apiserver-a', '10.1.0.5'), hasIdentity: false, reconcilesEndpoints: false }
    await using made = await cluster(facts)
    await expect(made.client.get(leases, 'apiserver-a', inSystem)).rejects.toMatchObject({ reason: 'NotFound' })
    await expect(made.client.get(endpoints, 'kubernetes')).rejects.toMatchObject({ reason: 'NotFound' })
  })
})
