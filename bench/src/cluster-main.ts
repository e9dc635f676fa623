/**
 * Runs a day of cron jobs on a living cluster, and prints as JSON how long it takes: once in a new process, and again in a warm one.
 */
import { parseArgs } from 'node:util'
import { CronJob, Job } from '@krmkit/kinds/batch/v1'
import { createTestServer } from '@krmkit/testing'

const { values } = parseArgs({
  options: {
    schedule: { type: 'string', default: '*/10 * * * *' },
    nodes: { type: 'string', default: '3' },
    runs: { type: 'string', default: '4' },
  },
})
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }] } }

interface Day {
  readonly startMs: number
  readonly dayMs: number
  readonly cpuMs: number
  readonly jobs: number
  readonly requests: number
}

async function day(): Promise<Day> {
  const from = performance.now()
  await using cluster = await createTestServer({ cluster: { nodes: Number(values.nodes) }, startAtMs: Date.UTC(2024, 0, 1) })
  const spec = { schedule: values.schedule, jobTemplate: { spec: { template } } }
  await cluster.client.create(CronJob, { metadata: { name: 'tick', namespace: 'default' }, spec })
  await cluster.settle()
  const started = performance.now()
  const cpu = process.cpuUsage()
  await cluster.clock.advance('24h')
  const dayMs = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  const { items } = await cluster.client.list(Job, { namespace: 'default' })
  const jobs = cluster.ledger.count({ resource: 'jobs', verb: 'create', controllers: true })
  if (items.length < 3) throw new Error(`${items.length} jobs remain`)
  const requests = cluster.ledger.count({ controllers: true })
  return { startMs: started - from, dayMs, cpuMs: (user + system) / 1000, jobs, requests }
}

const days: Day[] = []
for (let i = 0; i < Number(values.runs); i++) days.push(await day())
console.log(JSON.stringify(days))
