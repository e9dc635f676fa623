import { resourceType } from '@krmkit/client'
import { runControllers } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { namesOf } from '../resources.fixture.ts'
import { endPod, podsOf, ScriptedClock, startWith } from './workloads.fixture.ts'

interface CronJob extends ApiObject {
  status?: { active?: { name: string }[]; lastScheduleTime?: string; lastSuccessfulTime?: string }
}

const batch = { group: 'batch', version: 'v1' }
const cronJobs = resourceType<CronJob>({ ...batch, resource: 'cronjobs', kind: 'CronJob' })
const jobs = resourceType({ ...batch, resource: 'jobs', kind: 'Job' })

function cronJob(spec: object = {}): ApiObject {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }] } }
  const jobTemplate = { metadata: { labels: { team: 'a' } }, spec: { template } }
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'tick', namespace: 'default' },
    spec: { schedule: '*/10 * * * *', jobTemplate, ...spec },
  }
}

const controllers = ['cronjob-controller', 'job-controller', 'garbage-collector-controller']
const start = (spec: object = {}, names: readonly string[] = controllers) => startWith(names, [cronJob(spec)])
const jobNames = async ({ client }: TestServer) => namesOf(await client.list(jobs, { namespace: 'default' }))
const statusOf = async ({ client }: TestServer) => (await client.get(cronJobs, 'tick')).status
const minuteOf = (hours: number, minutes: number) => Date.UTC(2024, 0, 1, hours, minutes) / 60_000
async function endAll(server: TestServer, exitCode = 0): Promise<void> {
  for (const { metadata, status } of await podsOf(server))
    if (status?.phase === 'Pending') await endPod(server, metadata.name ?? '', exitCode)
  await server.settle()
}

describe('cron job controller', () => {
  it('creates a job at each scheduled time', async () => {
    await using server = await start()
    await server.clock.advance('9m59s')
    expect(await jobNames(server)).toEqual([])
    await server.clock.advance('1s')
    const name = `tick-${minuteOf(0, 10)}`
    expect(await jobNames(server)).toEqual([name])
    const job = await server.client.get(jobs, name)
    expect(job.metadata).toMatchObject({
      labels: { team: 'a' },
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2024-01-01T00:10:00Z' },
      ownerReferences: [{ kind: 'CronJob', name: 'tick', controller: true, blockOwnerDeletion: true }],
    })
    expect(await statusOf(server)).toMatchObject({
      active: [{ apiVersion: 'batch/v1', kind: 'Job', name, namespace: 'default', uid: job.metadata.uid }],
      lastScheduleTime: '2024-01-01T00:10:00Z',
    })
    await server.clock.advance('1m')
    await endAll(server)
    expect(await statusOf(server)).toEqual({
      lastScheduleTime: '2024-01-01T00:10:00Z',
      lastSuccessfulTime: '2024-01-01T00:11:00Z',
    })
  })

  it('misses no time that passes while it runs', async () => {
    await using server = await startWith([], [cronJob()])
    const dueMs = minuteOf(0, 10) * 60_000
    const clock = new ScriptedClock(server.clock.now())
    await using running = runControllers({ client: server.client, clock, controllers: ['cronjob-controller'] })
    await running.settled()
    clock.next.push(dueMs - 1)
    for (clock.nowMs = dueMs; clock.nowMs < dueMs + 2; clock.nowMs++) {
      clock.fire()
      await running.settled()
    }
    expect(await jobNames(server)).toEqual([`tick-${minuteOf(0, 10)}`])
  })

  it('keeps as many ended jobs as the history limits allow', async () => {
    await using server = await start({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 })
    for (const exitCode of [0, 0, 0]) {
      await server.clock.advance('10m')
      await endAll(server, exitCode)
    }
    expect(await jobNames(server)).toEqual([`tick-${minuteOf(0, 20)}`, `tick-${minuteOf(0, 30)}`])
  })

  it('uses the time zone', async () => {
    await using server = await start({ schedule: '0 9 * * *', timeZone: 'Europe/Berlin' })
    await server.clock.advance('8h')
    expect(await jobNames(server)).toEqual([`tick-${minuteOf(8, 0)}`])
    const { metadata } = await server.client.get(jobs, `tick-${minuteOf(8, 0)}`)
    expect(metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']).toBe('2024-01-01T09:00:00+01:00')
  })

  it.each([
    ['Allow', 3],
    ['Forbid', 1],
    ['Replace', 1],
  ])('applies the concurrency policy %s', async (concurrencyPolicy, count) => {
    await using server = await start({ concurrencyPolicy })
    await server.clock.advance('30m')
    const names = await jobNames(server)
    expect(names).toHaveLength(count)
    expect(names.at(-1)).toBe(`tick-${concurrencyPolicy === 'Forbid' ? minuteOf(0, 10) : minuteOf(0, 30)}`)
  })

  it('starts only the latest time that a suspended cron job missed', async () => {
    await using server = await start({ suspend: true })
    await server.clock.advance('1h5m')
    expect(await jobNames(server)).toEqual([])
    await server.client.patch(cronJobs, 'tick', { type: 'merge', patch: { spec: { suspend: false } } })
    await server.settle()
    expect(await jobNames(server)).toEqual([`tick-${minuteOf(1, 0)}`])
  })

  it('does not start jobs after the starting deadline', async () => {
    await using server = await start({ suspend: true, startingDeadlineSeconds: 60 })
    await server.clock.advance('1h5m')
    await server.client.patch(cronJobs, 'tick', { type: 'merge', patch: { spec: { suspend: false } } })
    await server.settle()
    expect(await jobNames(server)).toEqual([])
    await server.clock.advance('5m')
    expect(await jobNames(server)).toEqual([`tick-${minuteOf(1, 10)}`])
  })

  it('applies a new schedule from its next time on', async () => {
    await using server = await start({ schedule: '0 0 * * *' })
    await server.clock.advance('1h')
    await server.client.patch(cronJobs, 'tick', { type: 'merge', patch: { spec: { schedule: '*/15 * * * *' } } })
    await server.settle()
    expect(await jobNames(server)).toEqual([])
    await server.clock.advance('15m')
    expect(await jobNames(server)).toEqual([`tick-${minuteOf(1, 15)}`])
  })

  it('runs a day of jobs by advancing the clock', async () => {
    await using server = await start({ schedule: '0 * * * *' }, ['cronjob-controller'])
    await server.clock.advance('24h')
    expect(await jobNames(server)).toHaveLength(24)
  })
})
