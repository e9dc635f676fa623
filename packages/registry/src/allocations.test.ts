import { type ApiObject, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { FrozenObject } from './interfaces.ts'
import { sampleRegistry } from './testing/sample-registry.ts'

interface Service extends ApiObject {
  spec: { clusterIP: string; clusterIPs: string[]; ports: { nodePort?: number }[] }
}

const nodePort = (name: string, spec: object = {}): Partial<ApiObject> => ({
  metadata: { name },
  spec: { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
})
const specOf = (object: FrozenObject) => (object as unknown as Service).spec

describe('addresses of services', () => {
  it('assigns distinct addresses and node ports to 64 concurrent services', async () => {
    const { create } = sampleRegistry()
    const made = await Promise.all(Array.from({ length: 64 }, (_, i) => create('services', nodePort(`s${i}`))))
    const specs = made.map(({ object }) => specOf(object))
    expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(64)
    expect(new Set(specs.map(({ ports }) => ports[0]?.nodePort)).size).toBe(64)
    for (const { clusterIP, clusterIPs, ports } of specs) {
      expect(clusterIP).toMatch(/^10\.0\.0\.\d+$/)
      expect(clusterIPs).toEqual([clusterIP])
      expect(ports[0]?.nodePort).toBeGreaterThanOrEqual(30_000)
      expect(ports[0]?.nodePort).toBeLessThanOrEqual(32_767)
    }
  })

  it('grants a requested address to one of many concurrent services', async () => {
    const { create } = sampleRegistry()
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => create('services', nodePort(`s${i}`, { clusterIP: '10.0.0.9' }))),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of results) {
      if (each.status === 'rejected')
        expect(each.reason).toMatchObject({ code: 422, message: expect.stringContaining('provided IP is already allocated') })
    }
  })

  it('grants a port to one service, whatever the protocol', async () => {
    const { create } = sampleRegistry()
    const asking = (protocol: string) => ({ ports: [{ port: 80, protocol, nodePort: 30_009 }] })
    await create('services', nodePort('a', asking('TCP')))
    await expect(create('services', nodePort('b', asking('UDP')))).rejects.toMatchObject({
      message: expect.stringContaining('provided port is already allocated'),
    })
  })

  it('frees the address of a deleted service and keeps it across an update', async () => {
    const { create, remove, update } = sampleRegistry()
    const asking = { clusterIP: '10.0.0.9', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_009 }] }
    await create('services', nodePort('a', asking))
    const change = (current: FrozenObject | undefined): ApiObject => {
      const next = structuredClone(current) as ApiObject
      next.metadata.labels = { changed: 'yes' }
      return next
    }
    expect(specOf((await update('services', { name: 'a', change })).object).clusterIP).toBe('10.0.0.9')
    await remove('services', 'a')
    expect(specOf((await create('services', nodePort('b', asking))).object).clusterIP).toBe('10.0.0.9')
  })

  it('assigns nothing to a refused service or in a dry run', async () => {
    const { create } = sampleRegistry()
    const asking = { clusterIP: '10.0.0.9' }
    await create('services', nodePort('a', asking), { dryRun: true })
    await expect(create('services', nodePort('Not A Name', asking))).rejects.toMatchObject({ code: 422 })
    expect(specOf((await create('services', nodePort('b', asking))).object).clusterIP).toBe('10.0.0.9')
  })

  it('respects addresses assigned before the registry was created', async () => {
    const first = sampleRegistry()
    await first.create('services', nodePort('a', { clusterIP: '10.0.0.9' }))
    const second = sampleRegistry({ storage: first.storage, random: seededRandom(2) })
    await expect(second.create('services', nodePort('b', { clusterIP: '10.0.0.9' }))).rejects.toMatchObject({ code: 422 })
    await first.remove('services', 'a')
    await second.create('services', nodePort('b', { clusterIP: '10.0.0.9' }))
  })

  it('does not assign an address that an IPAddress object reserves', async () => {
    const { create, remove } = sampleRegistry()
    const parentRef = { resource: 'things', name: 'mine' }
    const asking = { clusterIP: '10.0.0.9' }
    await create('ipaddresses', { metadata: { name: '10.0.0.9' }, spec: { parentRef } } as Partial<ApiObject>)
    await expect(create('services', nodePort('a', asking))).rejects.toMatchObject({ code: 422 })
    await remove('ipaddresses', '10.0.0.9')
    const labels = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }
    await create('ipaddresses', { metadata: { name: '10.0.0.9', labels }, spec: { parentRef } } as Partial<ApiObject>)
    expect(specOf((await create('services', nodePort('a', asking))).object).clusterIP).toBe('10.0.0.9')
  })

  it('assigns addresses from ready ServiceCIDR objects', async () => {
    const { create, remove, update } = sampleRegistry()
    const asking = { clusterIP: '10.7.0.9' }
    await expect(create('services', nodePort('a', asking))).rejects.toMatchObject({ code: 422 })
    await create('servicecidrs', { metadata: { name: 'more' }, spec: { cidrs: ['10.7.0.0/28'] } } as Partial<ApiObject>)
    expect(specOf((await create('services', nodePort('a', asking))).object).clusterIP).toBe('10.7.0.9')
    await expect(create('services', nodePort('b', asking))).rejects.toMatchObject({
      message: expect.stringContaining('provided IP is already allocated'),
    })
    const condition = { type: 'Ready', status: 'False', reason: 'x', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' }
    const judge = (current: FrozenObject | undefined) =>
      ({ ...structuredClone(current), status: { conditions: [condition] } }) as unknown as ApiObject
    await update('servicecidrs', { name: 'more', subresource: 'status', change: judge })
    await expect(create('services', nodePort('b', { clusterIP: '10.7.0.8' }))).rejects.toMatchObject({ code: 422 })
    await remove('servicecidrs', 'more')
    await expect(create('services', nodePort('b', { clusterIP: '10.7.0.8' }))).rejects.toMatchObject({ code: 422 })
  })

  it('assigns from further ranges when the primary range is full', async () => {
    const { create } = sampleRegistry()
    const names = Array.from({ length: 254 }, (_, i) => `s${i}`)
    await Promise.all(
      names.map((name) =>
        create('services', { metadata: { name }, spec: { ports: [{ port: 80, protocol: 'TCP' }] } } as Partial<ApiObject>),
      ),
    )
    const late = { metadata: { name: 'late' }, spec: { ports: [{ port: 80, protocol: 'TCP' }] } } as Partial<ApiObject>
    await expect(create('services', late)).rejects.toMatchObject({ message: expect.stringContaining('range is full') })
    await create('servicecidrs', { metadata: { name: 'more' }, spec: { cidrs: ['10.7.0.0/28'] } } as Partial<ApiObject>)
    expect(specOf((await create('services', late)).object).clusterIP).toMatch(/^10\.7\.0\.\d+$/)
  })

  it('continues after a failed write', async () => {
    const { create } = sampleRegistry()
    const [refused, made] = await Promise.allSettled([
      create('services', nodePort('a', { clusterIP: '192.168.0.1' })),
      create('services', nodePort('b')),
    ])
    expect(refused.status).toBe('rejected')
    expect(made.status).toBe('fulfilled')
  })
})
