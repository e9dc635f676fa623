import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RequestSpan, readTraceContext } from '@krmkit/base/tracing'
import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { Collector } from '../otlp/testing/collector.ts'
import { serve } from '../serve.ts'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { RecordedSpan } from './recorded-span.ts'
import { createSamplingTracer } from './sampling-tracer.ts'
import { SpanQueue } from './span-queue.ts'
import { createTracing } from './tracing.ts'
import { readTracingConfiguration } from './tracing-configuration.ts'

const folder = temporaryFolder({ perTest: true })

async function configuration(members: string): Promise<string> {
  const path = join(folder, 'tracing.yaml')
  await writeFile(path, `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n${members}`)
  return path
}

const log = { info: () => undefined, error: () => undefined }
const resource = { 'service.name': 'apiserver', 'service.instance.id': 'a' }
const environment = { clock: fakeClock(0), random: seededRandom(1), profile: stockProfile, features: createFeatures(), resource }
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

describe('--tracing-config-file', () => {
  it('sends the spans of requests to a collector', async () => {
    await using collector = await Collector.start()
    const path = await configuration(`endpoint: ${collector.endpoint}\nsamplingRatePerMillion: 1000000\n`)
    const options = await serveOptions(`${folder}/data`, [`--tracing-config-file=${path}`, '--controllers='])
    const running = await serve(options, log)
    const client = createRemoteClient(await loadKubeconfig({ path: running.kubeconfig! }))
    const headers = { traceparent: `00-${traceId}-${spanId}-01` }
    expect((await client.request({ path: '/api/v1/namespaces/default', headers })).status).toBe(200)
    await client.close()
    await running.close()
    expect(collector.resource).toMatchObject({ 'service.name': 'apiserver', 'service.instance.id': expect.any(String) })
    const ours = collector.spans.filter((span) => span.traceId === traceId)
    const request = ours.find(({ name }) => name === 'GET /api/v1/namespaces/{:namespace}/namespaces/{:name}')
    expect(request).toMatchObject({ parentSpanId: spanId, kind: 2, attributes: { 'http.status_code': 200 } })
    const get = ours.find(({ name }) => name === 'Get')
    expect(get).toMatchObject({ parentSpanId: request?.spanId, kind: 1, attributes: { resource: 'namespaces' } })
    expect(get?.events).toContain('About to write a response')
    expect(get!.endTimeUnixNano).toBeGreaterThan(get!.startTimeUnixNano)
    expect(Math.abs(get!.endTimeUnixNano / 1e6 - Date.now())).toBeLessThan(60_000)
  })

  it('reports once that a collector cannot be reached', async () => {
    const path = await configuration('endpoint: 127.0.0.1:1\nsamplingRatePerMillion: 1000000\n')
    const errors: unknown[] = []
    const tracing = await createTracing(path, { ...environment, onError: (error) => errors.push(error) })
    tracing.tracer.startSpan('Get').end()
    await tracing[Symbol.asyncDispose]()
    expect(errors).toMatchObject([{ message: expect.stringContaining('spans do not reach the collector 127.0.0.1:1') }])
  })

  it('has the defaults of kube-apiserver', async () => {
    const read = await readTracingConfiguration(await configuration(''), { ...environment, apiDomain: 'k8s.io' })
    expect(read).toEqual({ endpoint: 'localhost:4317', samplingRatePerMillion: 0 })
  })

  it.each([
    ['samplingRatePerMillion: -1', 'samplingRatePerMillion: Invalid value: -1: sampling rate must be positive'],
    ['samplingRatePerMillion: 1000001', 'sampling rate per million must be less than or equal to one million'],
    ['samplingRatePerMillion: 1.5', 'samplingRatePerMillion: must be a 32-bit integer'],
    ['endpoint: http://localhost:4317', 'unsupported scheme: http'],
    ['url: x', 'strict decoding error: unknown field "url"'],
    ['endpoint: [', 'tracing.yaml'],
  ])('rejects %s', async (members, message) => {
    const path = await configuration(members)
    await expect(readTracingConfiguration(path, { ...environment, apiDomain: 'k8s.io' })).rejects.toThrow(message)
  })

  it('is refused where the gate APIServerTracing is off', async () => {
    const features = createFeatureGates({ set: 'APIServerTracing=false' })
    const reading = readTracingConfiguration(await configuration(''), { features, apiDomain: 'k8s.io' })
    await expect(reading).rejects.toThrow('APIServerTracing feature is not enabled, but tracing config file was provided')
  })
})

describe('createSamplingTracer', () => {
  const sampledOf = (samplingRatePerMillion: number, traces: number) => {
    const ended: RecordedSpan[] = []
    const add = (span: RecordedSpan) => void ended.push(span)
    const tracer = createSamplingTracer({ random: seededRandom(7), samplingRatePerMillion, ended: add })
    for (let i = 0; i < traces; i++) tracer.startSpan('GET').end()
    return { tracer, ended }
  }

  it('samples the given part of the traces', () => {
    expect(sampledOf(0, 100).ended).toHaveLength(0)
    expect(sampledOf(1_000_000, 100).ended).toHaveLength(100)
    const { length } = sampledOf(250_000, 1000).ended
    expect(length).toBeGreaterThan(180)
    expect(length).toBeLessThan(320)
  })

  it('follows the decision of the parent', () => {
    const { tracer, ended } = sampledOf(0, 0)
    for (const flags of ['00', '01']) {
      const remote = readTraceContext({ traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: 'a=1' })
      RequestSpan.start(tracer, flags, {}, { auditId: 'x', remote }).end()
      RequestSpan.start(tracer, `root ${flags}`, { root: true }, { auditId: 'x', remote }).end()
    }
    expect(ended).toMatchObject([{ name: '01', parentSpanId: spanId, identity: { traceId, traceFlags: 1 } }])
    expect(ended[0]?.identity.traceState?.serialize()).toBe('a=1')
  })
})

describe('RecordedSpan', () => {
  it('keeps 128 events, and nothing after its end', () => {
    const span = new RecordedSpan(
      'a',
      { traceId, spanId, traceFlags: 1 },
      { parentSpanId: '', options: {}, ended: () => undefined },
    )
    for (let i = 0; i < 130; i++) span.addEvent('e')
    span.end()
    span.setAttributes({ late: true })
    expect([span.events.length, span.droppedEvents, span.attributes]).toEqual([128, 2, {}])
  })
})

describe('SpanQueue', () => {
  const span = () =>
    new RecordedSpan('a', { traceId, spanId, traceFlags: 1 }, { parentSpanId: '', options: {}, ended: () => undefined })

  it('sends after 5 seconds, or 512 spans at a time, and drops spans above 2048', async () => {
    const clock = fakeClock(0)
    const sent: number[] = []
    let release: () => void = () => undefined
    const send = (spans: readonly RecordedSpan[]) => {
      sent.push(spans.length)
      return new Promise<void>((resolve) => {
        release = resolve
      })
    }
    const queue = new SpanQueue({ clock, send, onError: () => undefined })
    queue.add(span())
    await clock.advance(4999)
    expect(sent).toEqual([])
    await clock.advance(1)
    expect(sent).toEqual([1])
    for (let i = 0; i < 3000; i++) queue.add(span())
    const closing = queue.close()
    for (let i = 0; i < 5; i++) {
      release()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closing
    expect(sent).toEqual([1, 512, 512, 512, 512])
  })
})
