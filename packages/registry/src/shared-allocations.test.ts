import { type ApiObject, seededRandom } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { FrozenObject } from './interfaces.ts'
import { sampleRegistry } from './testing/sample-registry.ts'

interface Service extends ApiObject {
  spec: { clusterIP: string; ports: { nodePort?: number }[]; type?: string }
}

const ports = [{ port: 80, protocol: 'TCP' }]
const service = (name: string, spec: object = {}): Partial<ApiObject> => ({
  metadata: { name },
  spec: { type: 'NodePort', ports, ...spec },
})
const specOf = (object: FrozenObject) => (object as unknown as Service).spec
/** A storage that declares other writers by having `refresh`. */
const sharedStorage = (): Storage => Object.assign(memoryStorage(), { refresh: async () => undefined })

const rangeOf = (storage: Storage, name: string) => {
  const entry = storage.peek(`/core/rangeallocations/${name}`)
  return entry === undefined ? undefined : JSON.parse(new TextDecoder().decode(entry.value))
}
/** Positions whose bits are set. */
const positions = (storage: Storage, name: string): number[] => {
  const bytes = [...Buffer.from(rangeOf(storage, name)?.data ?? '', 'base64')].reverse()
  return bytes.flatMap((byte, at) => [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => (((byte >> bit) & 1) === 1 ? [at * 8 + bit] : [])))
}

describe('several servers on one store', () => {
  it('assign distinct addresses and ports to services created at the same time', async () => {
    const storage = sharedStorage()
    // Equal seeds: both choose the same values first.
    const servers = [sampleRegistry({ storage, random: seededRandom(1) }), sampleRegistry({ storage, random: seededRandom(1) })]
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        servers.map(({ create }, server) => create('services', service(`s${i}-${server}`))),
      ).flat(),
    )
    const specs = made.map(({ object }) => specOf(object))
    expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(120)
    expect(new Set(specs.map((spec) => spec.ports[0]?.nodePort)).size).toBe(120)
    expect(positions(storage, 'serviceips').map((position) => `10.0.0.${position + 1}`)).toEqual(
      specs.map(({ clusterIP }) => clusterIP).sort((a, b) => Number(a.slice(7)) - Number(b.slice(7))),
    )
    expect(rangeOf(storage, 'serviceips')).toMatchObject({ kind: 'RangeAllocation', range: '10.0.0.0/24' })
    expect(rangeOf(storage, 'servicenodeports')).toMatchObject({ range: '30000-32767' })
    const address = JSON.parse(
      new TextDecoder().decode(storage.peek(`/networking.k8s.io/ipaddresses/${specs[0]!.clusterIP}`)!.value),
    )
    expect(address).toMatchObject({
      metadata: {
        labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io', 'ipaddress.kubernetes.io/ip-family': 'IPv4' },
      },
      spec: { parentRef: { resource: 'services', namespace: 'ns', name: 's0-0' } },
    })
  })

  it('grant a requested value to one service', async () => {
    const storage = sharedStorage()
    const servers = [sampleRegistry({ storage }), sampleRegistry({ storage })]
    const asking = service('a', { clusterIP: '10.0.0.9', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_009 }] })
    const results = await Promise.allSettled(
      servers.map(({ create }, i) => create('services', { ...asking, metadata: { name: `a${i}` } })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(positions(storage, 'serviceips')).toEqual([8])
    expect(positions(storage, 'servicenodeports')).toEqual([9])
  })

  it('record no values of services that are refused, deleted or changed', async () => {
    const storage = sharedStorage()
    const { create, remove, stored, update } = sampleRegistry({ storage })
    await create('services', service('a', { clusterIP: '10.0.0.9' }))
    await expect(create('services', service('a', { clusterIP: '10.0.0.10' }))).rejects.toMatchObject({ reason: 'AlreadyExists' })
    await expect(create('services', service('Not A Name'))).rejects.toMatchObject({ code: 422 })
    await create('services', service('b'), { dryRun: true })
    expect(positions(storage, 'serviceips')).toEqual([8])
    expect(positions(storage, 'servicenodeports')).toHaveLength(1)
    const change = (current: FrozenObject | undefined): ApiObject => {
      const next = structuredClone(current) as Service
      next.spec.type = 'ClusterIP'
      for (const port of next.spec.ports) delete port.nodePort
      return next
    }
    await update('services', { name: 'a', change })
    expect(positions(storage, 'servicenodeports')).toEqual([])
    await remove('services', 'a')
    expect(positions(storage, 'serviceips')).toEqual([])
    expect(stored('ipaddresses', '10.0.0.9')).toBeUndefined()
    expect(storage.count('/networking.k8s.io/ipaddresses/')).toBe(0)
  })

  it('respect services that were stored before values were recorded', async () => {
    const storage = memoryStorage()
    await sampleRegistry({ storage }).create('services', service('a', { clusterIP: '10.0.0.9' }))
    const shared = Object.assign(storage, { refresh: async () => undefined })
    const { create } = sampleRegistry({ storage: shared })
    await create('services', service('b', { clusterIP: '10.0.0.10' }))
    expect(positions(storage, 'serviceips')).toEqual([8, 9])
    expect(positions(storage, 'servicenodeports')).toHaveLength(2)
    await expect(create('services', service('c', { clusterIP: '10.0.0.9' }))).rejects.toMatchObject({ code: 422 })
  })
})

describe('the repair of recorded values', () => {
  const write = (storage: Storage, name: string, range: string, bits: readonly number[]) => {
    const bytes: number[] = []
    for (const bit of bits) {
      while (bytes.length <= bit >> 3) bytes.push(0)
      bytes[bit >> 3] = bytes[bit >> 3]! | (1 << (bit & 7))
    }
    const object = {
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: {},
      range,
      data: Buffer.from(bytes.reverse()).toString('base64'),
    }
    return storage.put(`/core/rangeallocations/${name}`, () => new TextEncoder().encode(JSON.stringify(object)))
  }

  it('records values of services, and reports ports that were not recorded', async () => {
    const storage = sharedStorage()
    const { create, registry } = sampleRegistry({ storage })
    await create('services', service('a', { clusterIP: '10.0.0.9', ports: [{ port: 80, nodePort: 30_009, protocol: 'TCP' }] }))
    expect(await registry.repairAllocations()).toEqual([])
    await write(storage, 'servicenodeports', '30000-32767', [])
    await write(storage, 'serviceips', '10.0.0.0/24', [])
    expect(await registry.repairAllocations()).toMatchObject([
      {
        object: { metadata: { name: 'a' } },
        reason: 'PortNotAllocated',
        action: 'PortAllocation',
        message: 'Port 30009 is not allocated; repairing',
        reportingController: 'portallocator-repair-controller',
      },
    ])
    expect(positions(storage, 'servicenodeports')).toEqual([9])
    expect(positions(storage, 'serviceips')).toEqual([8])
  })

  it('frees values that no service holds for three repairs', async () => {
    const storage = sharedStorage()
    const { registry } = sampleRegistry({ storage })
    await write(storage, 'servicenodeports', '30000-32767', [5])
    for (const expected of [[5], [5], []]) {
      await registry.repairAllocations()
      expect(positions(storage, 'servicenodeports')).toEqual(expected)
    }
  })

  it('replaces a record of another range, which allows no allocation until then', async () => {
    const storage = sharedStorage()
    const { create, registry } = sampleRegistry({ storage })
    await write(storage, 'serviceips', '10.1.0.0/24', [])
    await expect(create('services', service('a'))).rejects.toMatchObject({
      message: expect.stringContaining('the provided range does not match the current range'),
    })
    await registry.repairAllocations()
    await create('services', service('a'))
    expect(positions(storage, 'servicenodeports')).toHaveLength(1)
  })
})
