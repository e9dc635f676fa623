import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { bindPod, endPod, type Pod, pods, podsOf, runPods, setPodStatus, startWith } from './workloads.fixture.ts'

interface Job extends ApiObject {
  spec?: { parallelism?: number; suspend?: boolean }
  status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[]; [member: string]: unknown }
}

const jobs = resourceType<Job>({ group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' })
const tracking = 'batch.kubernetes.io/job-tracking'
const indexKey = 'batch.kubernetes.io/job-completion-index'

function job(spec: object = {}, podSpec: object = {}): ApiObject {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }], ...podSpec } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work', namespace: 'default' },
    spec: { template, ...spec },
  }
}

const start = (spec: object = {}, podSpec: object = {}) => startWith(['job-controller'], [job(spec, podSpec)])
const statusOf = async ({ client }: TestServer) => (await client.get(jobs, 'work')).status ?? {}
const conditionsOf = async (server: TestServer) =>
  (await statusOf(server)).conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`) ?? []
const isOpen = ({ status, metadata }: Pod) =>
  status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && metadata.deletionTimestamp === undefined
const openPods = async (server: TestServer) => (await podsOf(server)).filter(isOpen)
const indexOf = ({ metadata }: Pod) => metadata.annotations?.[indexKey]

/** Ends the first pod that has not ended, or the pod of an index. */
async function end(server: TestServer, exitCode = 0, index?: number): Promise<string> {
  const open = await openPods(server)
  const pod = index === undefined ? open[0] : open.find((each) => indexOf(each) === String(index))
  const name = pod?.metadata.name ?? ''
  await endPod(server, name, exitCode)
  await server.settle()
  return name
}

describe('job controller', () => {
  it('runs one pod to completion and counts it', async () => {
    await using server = await start()
    const [pod] = await podsOf(server)
    expect(pod?.metadata).toMatchObject({
      generateName: 'work-',
      finalizers: [tracking],
      labels: { 'batch.kubernetes.io/job-name': 'work' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'work', controller: true, blockOwnerDeletion: true }],
    })
    expect(await statusOf(server)).toEqual({
      active: 1,
      ready: 0,
      terminating: 0,
      startTime: '2024-01-01T00:00:00Z',
      uncountedTerminatedPods: {},
    })
    await runPods(server)
    expect(await statusOf(server)).toMatchObject({ active: 1, ready: 1 })
    await end(server)
    expect(await statusOf(server)).toEqual({
      ready: 0,
      terminating: 0,
      succeeded: 1,
      startTime: '2024-01-01T00:00:00Z',
      completionTime: '2024-01-01T00:00:00Z',
      uncountedTerminatedPods: {},
      conditions: [
        expect.objectContaining({ type: 'SuccessCriteriaMet', status: 'True', reason: 'CompletionsReached' }),
        expect.objectContaining({
          type: 'Complete',
          status: 'True',
          reason: 'CompletionsReached',
          message: 'Reached expected number of succeeded pods',
        }),
      ],
    })
    expect((await podsOf(server))[0]?.metadata.finalizers).toBeUndefined()
  })

  it('keeps the parallelism until all completions are reached', async () => {
    await using server = await start({ completions: 5, parallelism: 2 })
    const active: number[] = []
    for (let i = 0; i < 5; i++) {
      active.push((await openPods(server)).length)
      await end(server)
    }
    expect(active).toEqual([2, 2, 2, 2, 1])
    expect(await statusOf(server)).toMatchObject({ succeeded: 5, ready: 0 })
    expect(await podsOf(server)).toHaveLength(5)
  })

  it('completes a work queue job once one pod has succeeded and the others have ended', async () => {
    await using server = await start({ parallelism: 3 })
    expect(await openPods(server)).toHaveLength(3)
    await end(server)
    expect([(await openPods(server)).length, await conditionsOf(server)]).toEqual([2, []])
    await end(server)
    await end(server)
    expect(await conditionsOf(server)).toContain('Complete True CompletionsReached')
    expect(await statusOf(server)).toMatchObject({ succeeded: 3 })
  })

  it('replaces failed pods with growing delays, and fails after the backoff limit', async () => {
    await using server = await start({ backoffLimit: 2 })
    await end(server, 1)
    expect([(await openPods(server)).length, (await statusOf(server)).failed]).toEqual([0, 1])
    await server.clock.advance('9s')
    expect(await openPods(server)).toHaveLength(0)
    await server.clock.advance('1s')
    expect(await openPods(server)).toHaveLength(1)
    await end(server, 1)
    await server.clock.advance('19s')
    expect(await openPods(server)).toHaveLength(0)
    await server.clock.advance('1s')
    await end(server, 1)
    expect(await conditionsOf(server)).toEqual(['FailureTarget True BackoffLimitExceeded', 'Failed True BackoffLimitExceeded'])
    expect(await statusOf(server)).toMatchObject({ failed: 3, ready: 0, terminating: 0 })
    expect(await statusOf(server)).not.toHaveProperty('completionTime')
  })

  it('fails after its active deadline and deletes its pods', async () => {
    await using server = await start({ activeDeadlineSeconds: 60, parallelism: 2, completions: 2 })
    await server.clock.advance('59s')
    expect(await conditionsOf(server)).toEqual([])
    await server.clock.advance('1s')
    expect(await conditionsOf(server)).toEqual(['FailureTarget True DeadlineExceeded', 'Failed True DeadlineExceeded'])
    expect([await podsOf(server), (await statusOf(server)).failed]).toEqual([[], 2])
  })

  it('delays the terminal condition until terminating pods are gone', async () => {
    await using server = await start({ activeDeadlineSeconds: 60 })
    const [pod] = await podsOf(server)
    await bindPod(server, pod?.metadata.name ?? '', 'node-1')
    await runPods(server)
    await server.clock.advance('60s')
    expect(await conditionsOf(server)).toEqual(['FailureTarget True DeadlineExceeded'])
    expect(await statusOf(server)).toMatchObject({ terminating: 1 })
    await server.client.delete(pods, pod?.metadata.name ?? '', { gracePeriodSeconds: 0 })
    await server.settle()
    expect(await conditionsOf(server)).toContain('Failed True DeadlineExceeded')
  })

  it('counts restarts of containers with OnFailure', async () => {
    await using server = await start({ backoffLimit: 2 }, { restartPolicy: 'OnFailure' })
    const [pod] = await podsOf(server)
    const restarted = (restartCount: number) => ({
      phase: 'Running',
      containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount, state: { running: {} } }],
    })
    await setPodStatus(server, pod?.metadata.name ?? '', restarted(1))
    await server.settle()
    expect(await conditionsOf(server)).toEqual([])
    await setPodStatus(server, pod?.metadata.name ?? '', restarted(2))
    await server.settle()
    expect(await conditionsOf(server)).toContain('Failed True BackoffLimitExceeded')
  })

  it('deletes the pods of a suspended job, and restarts a resumed job', async () => {
    await using server = await start({ suspend: true, activeDeadlineSeconds: 60 })
    expect([await podsOf(server), await conditionsOf(server)]).toEqual([[], ['Suspended True JobSuspended']])
    expect(await statusOf(server)).not.toHaveProperty('startTime')
    await server.clock.advance('1h')
    const suspend = (value: boolean) => server.client.patch(jobs, 'work', { type: 'merge', patch: { spec: { suspend: value } } })
    await suspend(false)
    await server.settle()
    expect(await conditionsOf(server)).toEqual(['Suspended False JobResumed'])
    expect([(await podsOf(server)).length, (await statusOf(server)).startTime]).toEqual([1, '2024-01-01T01:00:00Z'])
    await suspend(true)
    await server.settle()
    expect([await podsOf(server), await conditionsOf(server)]).toEqual([[], ['Suspended True JobSuspended']])
    expect(await statusOf(server)).not.toHaveProperty('failed')
  })

  it('follows changes of the parallelism', async () => {
    await using server = await start({ completions: 6, parallelism: 4 })
    await server.client.patch(jobs, 'work', { type: 'merge', patch: { spec: { parallelism: 1 } } })
    await server.settle()
    expect([(await podsOf(server)).length, (await statusOf(server)).active]).toEqual([1, 1])
  })

  it('releases the pods of a deleted job', async () => {
    await using server = await startWith(['job-controller', 'garbage-collector-controller'], [job()])
    await server.client.delete(jobs, 'work', { propagationPolicy: 'Background' })
    await server.settle()
    expect(await podsOf(server)).toEqual([])
  })

  it('ignores a job managed by another controller', async () => {
    await using server = await start({ managedBy: 'example.com/other' })
    expect([await podsOf(server), await statusOf(server)]).toEqual([[], {}])
  })
})

describe('indexed jobs', () => {
  it('give every pod an index and record the completed ones', async () => {
    await using server = await start({ completionMode: 'Indexed', completions: 4, parallelism: 3 })
    const open = await openPods(server)
    expect(open.map(indexOf)).toEqual(['0', '1', '2'])
    expect(open[1]).toMatchObject({
      metadata: { generateName: 'work-1-', labels: { [indexKey]: '1' } },
      spec: {
        hostname: 'work-1',
        containers: [
          { env: [{ name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexKey}']` } } }] },
        ],
      },
    })
    await end(server, 0, 0)
    await end(server, 0, 2)
    expect(await statusOf(server)).toMatchObject({ completedIndexes: '0,2', succeeded: 2 })
    expect((await openPods(server)).map(indexOf)).toEqual(['1', '3'])
    await end(server, 0, 1)
    await end(server, 0, 3)
    expect(await statusOf(server)).toMatchObject({ completedIndexes: '0-3', succeeded: 4 })
    expect(await conditionsOf(server)).toContain('Complete True CompletionsReached')
  })

  it('limit the failures of each index', async () => {
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 }
    await using server = await start(spec)
    await end(server, 1, 0)
    await server.clock.advance('10s')
    const [retried] = (await openPods(server)).filter((pod) => indexOf(pod) === '0')
    expect(retried?.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count']).toBe('1')
    await end(server, 1, 0)
    expect(await statusOf(server)).toMatchObject({ failedIndexes: '0', failed: 2, active: 1 })
    await end(server, 0, 1)
    expect(await statusOf(server)).toMatchObject({ failedIndexes: '0', completedIndexes: '1', failed: 2, succeeded: 1 })
    expect(await conditionsOf(server)).toEqual(['FailureTarget True FailedIndexes', 'Failed True FailedIndexes'])
  })

  it('end when more indexes failed than allowed', async () => {
    const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }
    await using server = await start(spec)
    await end(server, 1, 0)
    await end(server, 1, 1)
    expect(await conditionsOf(server)).toContain('Failed True MaxFailedIndexesExceeded')
    expect(await openPods(server)).toEqual([])
  })

  it('succeed early by a rule of the success policy', async () => {
    const successPolicy = { rules: [{ succeededIndexes: '0,2', succeededCount: 1 }] }
    await using server = await start({ completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy })
    await end(server, 0, 1)
    expect(await conditionsOf(server)).toEqual([])
    await end(server, 0, 2)
    expect(await conditionsOf(server)).toEqual(['SuccessCriteriaMet True SuccessPolicy', 'Complete True SuccessPolicy'])
    expect((await statusOf(server)).conditions?.[0]?.message).toBe('Matched rules at index 0')
    expect([await openPods(server), (await statusOf(server)).completedIndexes]).toEqual([[], '1,2'])
  })
})

describe('pod failure policies', () => {
  const policy = (rules: object[]) => ({ backoffLimit: 0, podFailurePolicy: { rules } })
  const exit = (action: string, ...values: number[]) => ({ action, onExitCodes: { operator: 'In', values } })

  it('fail a job at once', async () => {
    await using server = await start({ ...policy([exit('FailJob', 42)]), backoffLimit: 6 })
    const name = await end(server, 42)
    const message = `Container c for pod default/${name} failed with exit code 42 matching FailJob rule at index 0`
    expect((await statusOf(server)).conditions).toEqual([
      expect.objectContaining({ type: 'FailureTarget', reason: 'PodFailurePolicy', message }),
      expect.objectContaining({ type: 'Failed', reason: 'PodFailurePolicy', message }),
    ])
  })

  it('ignore failures, which then do not count', async () => {
    await using server = await start(
      policy([{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }]),
    )
    const [pod] = await podsOf(server)
    const conditions = [{ type: 'DisruptionTarget', status: 'True' }]
    await setPodStatus(server, pod?.metadata.name ?? '', { phase: 'Failed', conditions })
    await server.settle()
    expect([await conditionsOf(server), (await statusOf(server)).failed]).toEqual([[], undefined])
    await server.clock.advance('10s')
    expect(await openPods(server)).toHaveLength(1)
    await end(server, 1)
    expect(await conditionsOf(server)).toContain('Failed True BackoffLimitExceeded')
  })

  it('fail an index', async () => {
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 3 }
    await using server = await start({ ...spec, podFailurePolicy: { rules: [exit('FailIndex', 7)] } })
    await end(server, 7, 1)
    expect(await statusOf(server)).toMatchObject({ failedIndexes: '1', active: 1 })
  })

  it('replace terminating pods only after they have ended', async () => {
    await using server = await start({ podReplacementPolicy: 'Failed' })
    const [pod] = await podsOf(server)
    const name = pod?.metadata.name ?? ''
    await bindPod(server, name, 'node-1')
    await runPods(server)
    await server.client.delete(pods, name)
    await server.settle()
    expect([(await openPods(server)).length, (await statusOf(server)).terminating]).toEqual([0, 1])
    await setPodStatus(server, name, { phase: 'Failed' })
    await server.settle()
    await server.clock.advance('1m')
    expect([(await openPods(server)).length, (await statusOf(server)).failed]).toEqual([1, 1])
  })
})
