import { createInformer } from '@krmkit/client'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Secret } from '@krmkit/kinds/core/v1'
import { describe, expect, it } from 'vitest'
import type { TestServer } from './interfaces.ts'
import { createTestServer } from './test-server.ts'

const namespace = 'default'
const start = () => createTestServer({ controllers: [] })
const create = (cluster: TestServer, kind: typeof ConfigMap | typeof Secret, name: string) => {
  const object = { metadata: { name, namespace } }
  return kind === ConfigMap ? cluster.client.create(ConfigMap, object) : cluster.client.create(Secret, object)
}

async function informers(cluster: TestServer) {
  const operator = cluster.as('operator')
  const maps = createInformer(operator, ConfigMap, { namespace, clock: cluster.clock })
  const secrets = createInformer(operator, Secret, { namespace, clock: cluster.clock })
  await Promise.all([maps.synced, secrets.synced])
  await cluster.settle()
  const known = () => [...maps.list(), ...secrets.list()].map(({ metadata }) => metadata.name).sort()
  return { maps, known, stop: () => Promise.all([maps.stop(), secrets.stop()]) }
}

describe('held watches', () => {
  it('deliver their events one by one; the test chooses the order between watches', async () => {
    await using cluster = await start()
    const { known, stop } = await informers(cluster)
    const held = cluster.holdWatches({ user: 'operator' })
    await create(cluster, ConfigMap, 'a')
    await create(cluster, ConfigMap, 'b')
    await create(cluster, Secret, 's')
    await cluster.settle()
    expect(known()).toEqual([])
    expect(held.events).toEqual([
      'ADDED ConfigMap a to watch 1 of configmaps by operator',
      'ADDED Secret s to watch 2 of secrets by operator',
    ])
    expect(await held.step('Secret')).toBe('ADDED Secret s to watch 2 of secrets by operator')
    expect(known()).toEqual(['s'])
    await held.step()
    expect(known()).toEqual(['a', 's'])
    await expect(held.step(/Secret/)).rejects.toMatchObject({
      code: 'NothingHeld',
      message: 'no held event matches /Secret/; held events: \n  ADDED ConfigMap b to watch 1 of configmaps by operator',
    })
    held.release()
    await cluster.settle()
    expect(known()).toEqual(['a', 'b', 's'])
    await expect(held.step()).rejects.toThrow('no event is held; held events: none')
    await stop()
  })

  it('hold only matching events, and nothing after their release', async () => {
    await using cluster = await start()
    const { known, stop } = await informers(cluster)
    {
      using held = cluster.holdWatches({ resource: 'secrets' })
      await create(cluster, ConfigMap, 'a')
      await create(cluster, Secret, 's')
      await cluster.settle()
      expect(known()).toEqual(['a'])
      expect(held.events).toHaveLength(1)
    }
    await create(cluster, Secret, 't')
    await cluster.settle()
    expect(known()).toEqual(['a', 's', 't'])
    await stop()
  })

  it('discard held events when they are dropped, stopped or closed', async () => {
    const cluster = await start()
    const { maps, known, stop } = await informers(cluster)
    const held = cluster.holdWatches({ user: 'operator' })
    await create(cluster, ConfigMap, 'a')
    await cluster.settle()
    expect(cluster.faults.endWatches({ resource: 'configmaps' }, 'dropped')).toBe(1)
    await cluster.clock.advance('1m')
    expect(known()).toEqual([])
    expect(held.events).toContain('ADDED ConfigMap a to watch 3 of configmaps by operator')
    await maps.stop()
    expect(held.events.filter((text) => text.includes('watch 3'))).toEqual([])
    await create(cluster, Secret, 's')
    await cluster.settle()
    expect(known()).toEqual([])
    await cluster.close()
    await stop()
  })

  it('of controllers are held in a fork before its first write', async () => {
    await using cluster = await createTestServer({ cluster: { nodes: 1 } })
    const user = 'system:kube-controller-manager'
    expect(() => cluster.holdWatches({ user })).toThrow('the watches of the controllers are open already')
    await using fork = cluster.fork()
    const held = fork.holdWatches({ user, resource: 'replicasets' })
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:1' }] } }
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template }
    await fork.client.create(Deployment, { metadata: { name: 'web', namespace }, spec })
    await fork.settle()
    expect(held.events).toHaveLength(2)
    expect(held.events).toContainEqual(expect.stringContaining('ADDED ReplicaSet web-'))
    const ready = async () => (await fork.client.get(Deployment, 'web', { namespace })).status?.readyReplicas ?? 0
    expect(await ready()).toBe(0)
    held.release()
    await fork.settle()
    expect(await ready()).toBe(1)
  })

  it('reject matches for other requests', async () => {
    await using cluster = await start()
    expect(() => cluster.holdWatches({ verb: 'get' })).toThrow('only watches have events, but the verb is get')
    expect(() => cluster.holdWatches({ resources: 'pods' } as never)).toThrow('did you mean "resource"?')
  })
})
