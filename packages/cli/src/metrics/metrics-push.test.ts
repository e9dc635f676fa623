import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type CollectedMetric, Collector } from '../otlp/testing/collector.ts'
import { serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { MetricsPush } from './metrics-push.ts'

const folder = temporaryFolder({ perTest: true })

const resource = { 'service.name': 'apiserver', 'service.instance.id': 'a' }
const startMs = Date.UTC(2025, 0, 1)

const exposed = `# HELP jobs_total Jobs, by "state".
# TYPE jobs_total counter
jobs_total{state="a \\"b\\"\\n"} 3
jobs_total{state="c"} 0
# HELP idle Whether it is idle.
# TYPE idle gauge
idle 0
# HELP none No series.
# TYPE none gauge
# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{verb="GET",le="0.5"} 2
wait_seconds_bucket{verb="GET",le="1"} 2
wait_seconds_bucket{verb="GET",le="+Inf"} 5
wait_seconds_sum{verb="GET"} 7.25
wait_seconds_count{verb="GET"} 5
`

interface Run {
  readonly push: MetricsPush
  readonly clock: ReturnType<typeof fakeClock>
  readonly errors: string[]
}

function start(endpoint: string, read: () => Promise<string> = async () => exposed): Run {
  const clock = fakeClock(startMs)
  const errors: string[] = []
  const onError = (error: unknown) => errors.push((error as Error).message)
  return { push: new MetricsPush({ endpoint, intervalMs: 60_000, resource, read, clock, onError }), clock, errors }
}

describe('MetricsPush', () => {
  it('sends counters, gauges and histograms as the collector reads them, at each interval and at the end', async () => {
    await using collector = await Collector.start()
    const { push, clock, errors } = start(collector.endpoint)
    clock.advance(60_000)
    await expect.poll(() => collector.metrics.length).toBe(1)
    clock.advance(5000)
    await push[Symbol.asyncDispose]()
    expect(errors).toEqual([])
    expect(collector.resource).toEqual(resource)
    expect(collector.metrics).toHaveLength(2)
    const times = { startTimeUnixNano: startMs * 1e6, timeUnixNano: (startMs + 60_000) * 1e6 }
    const number = (state: string, asDouble: number) => ({ ...times, attributes: { state }, asDouble })
    expect(collector.metrics[0]).toEqual([
      {
        ...{ name: 'jobs_total', description: 'Jobs, by "state".', unit: '', type: 'sum', temporality: 2, isMonotonic: true },
        points: [number('a "b"\n', 3), number('c', 0)],
      },
      {
        ...{ name: 'idle', description: 'Whether it is idle.', unit: '', type: 'gauge' },
        points: [{ ...times, attributes: {}, asDouble: 0 }],
      },
      {
        ...{ name: 'wait_seconds', description: 'Waits.', unit: 's', type: 'histogram', temporality: 2 },
        points: [
          { ...times, attributes: { verb: 'GET' }, count: 5, sum: 7.25, bucketCounts: [2, 0, 3], explicitBounds: [0.5, 1] },
        ],
      },
    ] satisfies Partial<CollectedMetric>[])
    expect(collector.metrics[1]?.[1]?.points[0]?.timeUnixNano).toBe((startMs + 65_000) * 1e6)
  })

  it('sends at most 2000 series in one request', async () => {
    await using collector = await Collector.start()
    const lines = Array.from({ length: 4500 }, (_, i) => `many{i="${i}"} ${i}\n`).join('')
    const { push } = start(collector.endpoint, async () => `${exposed}# HELP many Many.\n# TYPE many gauge\n${lines}`)
    await push[Symbol.asyncDispose]()
    const counts = collector.metrics.map((metrics) => metrics.reduce((sum, { points }) => sum + points.length, 0))
    expect(counts).toEqual([2000, 2000, 504])
    const many = collector.metrics.flat().filter(({ name }) => name === 'many')
    expect(many.flatMap(({ points }) => points.map(({ asDouble }) => asDouble))).toEqual(
      Array.from({ length: 4500 }, (_, i) => i),
    )
  })

  it('reports a collector that cannot be reached once, and again after it was reached', async () => {
    const { push, clock, errors } = start('127.0.0.1:1')
    clock.advance(60_000)
    await expect.poll(() => errors).toHaveLength(1)
    await expect.poll(() => clock.pending).toBe(1)
    clock.advance(60_000)
    await push[Symbol.asyncDispose]()
    expect(errors).toEqual([expect.stringContaining('metrics do not reach the collector 127.0.0.1:1')])
  })

  it('reports what the collector rejects', async () => {
    await using collector = await Collector.start()
    // partial_success { rejected_data_points: 3, error_message: "old" }
    collector.answer = Buffer.from([10, 7, 8, 3, 18, 3, ...Buffer.from('old')])
    const { push, errors } = start(collector.endpoint)
    await push[Symbol.asyncDispose]()
    expect(errors).toEqual([expect.stringContaining('the collector rejected 3 data points: old')])
  })
})

describe('--metrics-otlp-endpoint', () => {
  it('sends the metrics of the server when it stops', async () => {
    await using collector = await Collector.start()
    const log = { info: () => undefined, error: (text: string, error?: unknown) => expect.fail(`${text}: ${String(error)}`) }
    const flags = [`--metrics-otlp-endpoint=${collector.endpoint}`, '--controllers=']
    const running = await serve(await serveOptions(`${folder}/data`, flags), log)
    const client = createRemoteClient(await loadKubeconfig({ path: running.kubeconfig! }))
    expect((await client.request({ path: '/api/v1/namespaces/default' })).status).toBe(200)
    await client.close()
    await running.close()
    const sent = collector.metrics.flat()
    const requests = sent.find(({ name }) => name === 'apiserver_request_total')
    expect(requests?.type).toBe('sum')
    expect(
      requests?.points.find(({ attributes }) => attributes.resource === 'namespaces' && attributes.verb === 'GET'),
    ).toMatchObject({
      attributes: { code: '200' },
      asDouble: 1,
    })
    const durations = sent.find(({ name }) => name === 'apiserver_request_duration_seconds')
    expect([durations?.type, durations?.unit, durations?.points[0]?.explicitBounds?.[0]]).toEqual(['histogram', 's', 0.005])
    expect(collector.resource).toMatchObject({ 'service.name': 'apiserver', 'service.instance.id': expect.any(String) })
  })

  it.each([
    ['--metrics-otlp-interval=10ms', 'It must be at least 1s.'],
    ['--metrics-otlp-endpoint=http://localhost:4318', 'It must be an address'],
  ])('refuses %s', async (flag, message) => {
    const { code, err } = await runCommand(['serve', flag])
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  })
})
