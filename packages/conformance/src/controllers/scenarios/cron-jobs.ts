import type { Json, Scenario } from '../scenario.ts'
import { job } from './jobs.ts'

const id = 'batch/v1/cronjobs/tick'

function cronJob(spec: Json, text: string) {
  const { spec: jobSpec } = job({}, text)
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'tick' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: jobSpec }, ...spec },
  }
}

const secondsToMinute = () => 60 - (Math.floor(Date.now() / 1000) % 60)

const twoMinutes = (name: string, spec: Json, text: string): Scenario => ({
  name,
  run: async (namespace) => {
    await namespace.wait(secondsToMinute() + 1)
    await namespace.create(cronJob(spec, text))
    await namespace.wait(secondsToMinute() + 65)
    await namespace.merge(id, { spec: { suspend: true } })
    await namespace.wait(1)
  },
})

export const cronJobs: readonly Scenario[] = [
  twoMinutes('cron-job-allow', {}, 'sleep 80'),
  twoMinutes('cron-job-forbid', { concurrencyPolicy: 'Forbid' }, 'sleep 80'),
  twoMinutes('cron-job-replace', { concurrencyPolicy: 'Replace' }, 'sleep 80'),
  twoMinutes(
    'cron-job-history',
    { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0, timeZone: 'Europe/Berlin' },
    'exit 0',
  ),
  twoMinutes(
    'cron-job-failing',
    {
      failedJobsHistoryLimit: 0,
      jobTemplate: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: job({ backoffLimit: 0 }, 'exit 1').spec },
    },
    '',
  ),
  twoMinutes('cron-job-deadline', { startingDeadlineSeconds: 200 }, 'exit 0'),
  {
    name: 'cron-job-zone-in-schedule',
    run: async (namespace) => {
      await namespace.create(cronJob({ suspend: true }, 'exit 0'))
      await namespace.wait(1)
      await namespace.merge(id, { spec: { schedule: '0 0 31 2 *', suspend: false } })
      await namespace.wait(2)
    },
  },
  {
    name: 'cron-job-manual-owner',
    run: async (namespace) => {
      const { metadata } = await namespace.create(cronJob({ suspend: true }, 'exit 0'))
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: metadata.uid, controller: true }
      await namespace.create({ ...job({}, 'sleep 3'), metadata: { name: 'work', ownerReferences: [owner] } })
      await namespace.until('batch/v1/jobs/work', ({ status }) => status?.succeeded === 1)
      await namespace.wait(1)
    },
  },
]
