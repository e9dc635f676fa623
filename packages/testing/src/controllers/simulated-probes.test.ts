import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resourceType } from '@krmkit/client'
import { httpProbe, type MatchedBehavior } from '@krmkit/controllers'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { type Pod, pods } from './workloads.fixture.ts'

interface Event extends ApiObject {
  reason?: string
  message?: string
  count?: number
}

const events = resourceType<Event>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })

const start = (...behaviors: readonly MatchedBehavior[]) =>
  createTestServer({
    cluster: { nodes: 1, behaviors },
    startAtMs: Date.UTC(2024, 0, 1),
    server: { random: seededRandom(1) },
  })

const httpGet = { path: '/healthz', port: 80 }

async function run(server: TestServer, probes: object, spec: object = {}): Promise<Pod> {
  const containers = [{ name: 'c', image: 'web:1', ...probes }]
  await server.client.create(pods, { metadata: { name: 'web', namespace: 'default' }, spec: { containers, ...spec } })
  await server.settle()
  return getPod(server)
}

const getPod = ({ client }: TestServer) => client.get(pods, 'web', { namespace: 'default' })
const container = async (server: TestServer) => (await getPod(server)).status?.containerStatuses?.[0]
const isReady = async (server: TestServer) =>
  (await getPod(server)).status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'

async function eventsOf({ client }: TestServer, reason: string): Promise<(string | number | undefined)[][]> {
  const { items } = await client.list(events, { namespace: 'default' })
  return items.filter((event) => event.reason === reason).map(({ message, count }) => [message, count ?? 1])
}

describe('probes of simulated pods', () => {
  it('start after the initial delay and repeat in each period', async () => {
    const times: number[] = []
    await using server = await start({ probe: ({ nowMs }) => times.push((nowMs - Date.UTC(2024, 0, 1)) / 1000) > 0 })
    await run(server, { readinessProbe: { httpGet, initialDelaySeconds: 5, periodSeconds: 20 } })
    expect(await isReady(server)).toBe(false)
    await server.clock.advance('1m')
    expect(times).toEqual([5, 25, 45])
    expect(await isReady(server)).toBe(true)
  })

  it('change readiness at their thresholds', async () => {
    let status = 500
    await using server = await start({ probe: ({ type, probe: { httpGet: get } }) => (type && get?.path ? status : 404) })
    await run(server, { readinessProbe: { httpGet, periodSeconds: 1, successThreshold: 2, failureThreshold: 3 } })
    expect(await isReady(server)).toBe(false)
    status = 399
    await server.clock.advance('1s')
    expect(await isReady(server)).toBe(false)
    await server.clock.advance('1s')
    expect(await isReady(server)).toBe(true)
    status = 503
    await server.clock.advance('2s')
    expect(await isReady(server)).toBe(true)
    await server.clock.advance('1s')
    expect(await isReady(server)).toBe(false)
    expect(await container(server)).toMatchObject({ restartCount: 0 })
    expect(await eventsOf(server, 'Unhealthy')).toEqual([
      ['Readiness probe failed: HTTP probe failed with statuscode: 500', 1],
      ['Readiness probe failed: HTTP probe failed with statuscode: 503', 3],
    ])
  })

  it('restart a container whose liveness fails, with back-off', async () => {
    await using server = await start({
      probe: ({ restarts }) => {
        if (restarts < 2) throw new Error('deadlock')
        return true
      },
    })
    await run(server, { livenessProbe: { httpGet, periodSeconds: 10, failureThreshold: 2 } })
    expect(await isReady(server)).toBe(true)
    await server.clock.advance('11s')
    expect(await container(server)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 137, reason: 'Error' } },
    })
    await server.clock.advance('15s')
    expect(await container(server)).toMatchObject({ state: { waiting: { reason: 'CrashLoopBackOff' } } })
    await server.clock.advance('1m')
    expect(await container(server)).toMatchObject({ restartCount: 2, ready: true })
    expect(await eventsOf(server, 'Unhealthy')).toEqual([['Liveness probe failed: deadlock', 4]])
    expect(await eventsOf(server, 'Killing')).toEqual([['Container c failed liveness probe, will be restarted', 2]])
  })

  it('hold back liveness and readiness until the startup probe succeeds', async () => {
    const types: string[] = []
    await using server = await start({ probe: ({ type }) => types.push(type) > 2 })
    const probe = { httpGet, periodSeconds: 5 }
    await run(server, { startupProbe: { ...probe, failureThreshold: 10 }, livenessProbe: probe, readinessProbe: probe })
    await server.clock.advance('5s')
    expect(await container(server)).toMatchObject({ started: false, ready: false })
    await server.clock.advance('5s')
    expect(types).toEqual(['startup', 'startup', 'startup', 'liveness', 'readiness'])
    expect(await container(server)).toMatchObject({ started: true, ready: true })
    await server.clock.advance('5s')
    expect(types.slice(5)).toEqual(['liveness', 'readiness'])
  })

  it('give a container its grace period to stop', async () => {
    await using server = await start({ probe: () => false, stopAfterMs: 4000, exitCode: 3 })
    const livenessProbe = { httpGet, periodSeconds: 1, failureThreshold: 1 }
    await run(server, { livenessProbe }, { restartPolicy: 'Never' })
    await server.clock.advance('3s')
    expect((await getPod(server)).status?.phase).toBe('Running')
    await server.clock.advance('1s')
    expect((await getPod(server)).status?.phase).toBe('Failed')
    expect(await container(server)).toMatchObject({ state: { terminated: { exitCode: 3 } } })
  })

  it('are sent to a real server on request', async () => {
    const requests: unknown[] = []
    const web = createServer((request, response) => {
      requests.push([request.url, request.headers['x-probe']])
      response.writeHead(request.url === '/ready?now' ? 302 : 500, { location: '/' }).end()
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    await using server = await start({ probe: httpProbe(`http://127.0.0.1:${(web.address() as AddressInfo).port}`) })
    const headers = [{ name: 'X-Probe', value: 'yes' }]
    await run(server, {
      readinessProbe: { httpGet: { ...httpGet, path: '/ready?now', httpHeaders: headers } },
      livenessProbe: { exec: { command: ['true'] } },
    })
    expect(await isReady(server)).toBe(true)
    expect(requests).toEqual([['/ready?now', 'yes']])
    await new Promise((resolve) => web.close(resolve))
    await server.clock.advance('30s')
    expect(await isReady(server)).toBe(false)
  })

  it('cannot reach another server by their path', async () => {
    const requests: unknown[] = []
    const web = createServer((request, response) => {
      requests.push(request.url)
      response.writeHead(200).end()
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    await using server = await start({ probe: httpProbe(`http://127.0.0.1:${(web.address() as AddressInfo).port}`) })
    await run(server, { readinessProbe: { httpGet: { ...httpGet, path: '//other.invalid:1/x' } } })
    expect(await isReady(server)).toBe(true)
    expect(requests).toEqual(['//other.invalid:1/x'])
    await new Promise((resolve) => web.close(resolve))
  })

  it('continue in a fork', async () => {
    let healthy = true
    await using server = await start({ probe: () => healthy })
    await run(server, { readinessProbe: { httpGet, failureThreshold: 1 } })
    await using fork = server.fork()
    await fork.settle()
    expect(await isReady(fork)).toBe(true)
    healthy = false
    await fork.clock.advance('10s')
    expect([await isReady(fork), await isReady(server)]).toEqual([false, true])
  })
})
