import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Controller } from '../interfaces.ts'
import { runControllers } from '../run.ts'
import { SmallServer } from '../testing/small-server.fixture.ts'
import type { Monitors } from './monitors.ts'

const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', kind: 'CustomResourceDefinition' }
const nodes = { group: '', resource: 'nodes', kind: 'Node' }
const events = { group: '', resource: 'events', kind: 'Event' }
const widgets = { group: 'shop.example.com', resource: 'widgets', kind: 'Widget' }

/** Records the calls of monitor handlers. */
function setup(server: SmallServer) {
  const seen: string[] = []
  let monitors: Monitors | undefined
  const watcher: Controller = {
    name: 'watcher',
    start(context) {
      monitors = context.monitors
      const unsubscribe = monitors.on({
        added: ({ resource }, { metadata }) => seen.push(`added ${resource} ${metadata.name}`),
        updated: ({ resource }, { metadata }) => seen.push(`updated ${resource} ${metadata.name}`),
        deleted: ({ resource }, { metadata }) => seen.push(`deleted ${resource} ${metadata.name}`),
        dropped: ({ resource }, { metadata }) => seen.push(`dropped ${resource} ${metadata.name}`),
        ready: () => seen.push('ready'),
      })
      return { [Symbol.asyncDispose]: async () => unsubscribe() }
    },
  }
  const clock = fakeClock()
  const running = runControllers({ client: server.client, clock, available: [watcher], newestVersion: () => server.version })
  const take = async () => {
    await running.settled()
    return seen.splice(0)
  }
  return { clock, running, take, monitors: () => monitors! }
}

describe('Monitors', () => {
  it('reports existing objects first, of every kind except events', async () => {
    const server = new SmallServer([nodes, events])
    server.put('nodes', 'a')
    server.put('events', 'e')
    const { running, take, monitors } = setup(server)
    expect(monitors().isReady).toBe(false)
    expect(await take()).toEqual(['added nodes a', 'ready'])
    expect(monitors().isReady).toBe(true)
    server.put('nodes', 'a')
    server.put('nodes', 'b')
    server.delete('nodes', 'a')
    server.put('events', 'e')
    expect(await take()).toEqual(['updated nodes a', 'added nodes b', 'deleted nodes a'])
    expect(monitors().of(nodes)?.list()).toHaveLength(1)
    await running.close()
  })

  it('drops managed fields', async () => {
    const server = new SmallServer([nodes])
    server.put('nodes', 'a', { managedFields: [{ manager: 'm' }] })
    const { running, take, monitors } = setup(server)
    await take()
    expect(monitors().of(nodes)?.get('a')?.metadata).toEqual({ name: 'a', uid: 'uid-nodes-a', resourceVersion: '2' })
    await running.close()
  })

  it('monitors a resource while its definition exists', async () => {
    const server = new SmallServer([definitions])
    const { running, take, monitors } = setup(server)
    await take()
    server.serve(widgets)
    server.put('widgets', 'w')
    server.put(definitions.resource, 'widgets.shop.example.com')
    expect(await take()).toEqual(['added customresourcedefinitions widgets.shop.example.com', 'added widgets w', 'ready'])
    const { ofKind } = await monitors().discovered()
    expect(ofKind('shop.example.com/v1', 'Widget')).toMatchObject({ resource: 'widgets' })
    server.served.delete('shop.example.com/widgets')
    server.delete(definitions.resource, 'widgets.shop.example.com')
    expect(await take()).toEqual(['deleted customresourcedefinitions widgets.shop.example.com', 'dropped widgets w'])
    expect(monitors().of(widgets)).toBeUndefined()
    await running.close()
  })

  it('repeats discovery a limited number of times while a definition is not served', async () => {
    const server = new SmallServer([definitions])
    const { clock, running, take } = setup(server)
    await take()
    server.put(definitions.resource, 'widgets.shop.example.com')
    server.put('widgets', 'w')
    await take()
    clock.advance(5)
    await take()
    server.serve(widgets)
    clock.advance(1000)
    expect(await take()).toEqual(['added widgets w', 'ready'])
    server.put(definitions.resource, 'gadgets.shop.example.com')
    await take()
    for (let i = 0; i < 20 && clock.nextAt !== undefined; i++) {
      clock.advanceTo(clock.nextAt)
      await take()
    }
    expect(clock.pending).toBe(0)
    await running.close()
  })

  it('sends no requests while nothing changes', async () => {
    const server = new SmallServer([definitions, nodes])
    const { clock, running, take } = setup(server)
    await take()
    const before = server.requests.length
    clock.advance(24 * 3_600_000)
    await take()
    expect(server.requests.length).toBe(before)
    await running.close()
    expect(clock.pending).toBe(0)
  })
})
