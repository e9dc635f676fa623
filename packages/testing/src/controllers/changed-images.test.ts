import { resourceType } from '@krmkit/client'
import type { MatchedBehavior } from '@krmkit/controllers'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { type Pod, pods } from './workloads.fixture.ts'

interface Event extends ApiObject {
  reason?: string
  message?: string
}

const events = resourceType<Event>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })

const start = (behaviors: readonly MatchedBehavior[] = []) =>
  createTestServer({ cluster: { nodes: 1, behaviors }, startAtMs: Date.UTC(2024, 0, 1), server: { random: seededRandom(1) } })

const container = { name: 'c', image: 'web:1' }
const getPod = ({ client }: TestServer) => client.get(pods, 'web', { namespace: 'default' })

async function run(server: TestServer, spec: object = {}): Promise<void> {
  await server.client.create(pods, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { containers: [container], ...spec },
  })
  await server.settle()
}

const stateOf = ({ status }: Pod) => (status?.containerStatuses?.[0] as { state: object } | undefined)?.state
const statusOf = ({ status }: Pod) => status?.containerStatuses?.[0]

describe('containers of simulated nodes whose image changes', () => {
  const setImage = async (server: TestServer, image: string) => {
    const patch = { spec: { containers: [{ name: 'c', image }] } }
    await server.client.patch(pods, 'web', { namespace: 'default', type: 'strategic', patch })
    await server.settle()
    return getPod(server)
  }
  const killed = async ({ client }: TestServer) =>
    (await client.list(events)).items.filter(({ reason }) => reason === 'Killing').map(({ message }) => message)

  it('restart with the new image, regardless of the restart policy', async () => {
    await using server = await start([{ match: { image: 'web:2' }, logs: 'two\n' }])
    await run(server, { restartPolicy: 'Never', containers: [{ ...container, ports: [{ containerPort: 80 }] }] })
    const changed = await setImage(server, 'web:2')
    const ended = { terminated: { exitCode: 137 } }
    expect(statusOf(changed)).toMatchObject({ restartCount: 1, image: 'web:2', ready: true, lastState: ended })
    expect(changed.status?.phase).toBe('Running')
    expect(await killed(server)).toEqual(['Container c definition changed, will be restarted'])
    const log = await server.client.request({ path: '/api/v1/namespaces/default/pods/web/log' })
    expect(await log.text()).toBe('two\n')
  })

  it('stop within the grace period', async () => {
    await using server = await start([{ stopAfterMs: 5000, exitCode: 3 }])
    await run(server)
    expect(stateOf(await setImage(server, 'web:2'))).toHaveProperty('running')
    await server.clock.advance('5s')
    expect(statusOf(await getPod(server))).toMatchObject({ image: 'web:2', lastState: { terminated: { exitCode: 3 } } })
  })

  it('reset their back-off', async () => {
    await using server = await start([{ exitAfterMs: 1000, exitCode: 1 }])
    await run(server)
    await server.clock.advance('10m')
    expect(stateOf(await getPod(server))).toMatchObject({ waiting: { reason: 'CrashLoopBackOff' } })
    const restarts = async () => (statusOf(await getPod(server)) as { restartCount: number } | undefined)?.restartCount ?? 0
    const before = await restarts()
    expect(statusOf(await setImage(server, 'web:2'))).toMatchObject({ image: 'web:2', state: { running: {} } })
    await server.clock.advance('20s')
    expect(await restarts()).toBe(before + 3)
  })

  it('pull the new image at once', async () => {
    await using server = await start([{ match: { image: 'missing:1' }, pullError: 'manifest unknown' }])
    await run(server, { containers: [{ ...container, image: 'missing:1' }] })
    await server.clock.advance('5m')
    expect(stateOf(await getPod(server))).toMatchObject({ waiting: { reason: 'ImagePullBackOff' } })
    expect(stateOf(await setImage(server, 'web:2'))).toHaveProperty('running')
  })

  it('do not affect other containers', async () => {
    await using server = await start()
    const others = ['a', 'b'].map((name) => ({ name, image: 'web:1' }))
    await run(server, { initContainers: [{ name: 'first', image: 'web:1' }], containers: [others[0], container, others[1]] })
    const restarts = (await setImage(server, 'web:2')).status?.containerStatuses as
      | { name: string; restartCount: number }[]
      | undefined
    expect(restarts?.map(({ name, restartCount }) => [name, restartCount])).toEqual([
      ['a', 0],
      ['c', 1],
      ['b', 0],
    ])
  })
})
