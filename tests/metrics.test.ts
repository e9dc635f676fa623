import { createApiServer } from '@krmkit/apiserver'
import { createMetricProducer } from '@krmkit/apiserver/metrics'
import { memoryStorage } from '@krmkit/storage'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { describe, expect, it } from 'vitest'

/** Metrics reach the SDK of OpenTelemetry. */

describe('createMetricProducer', () => {
  it('gives the metrics of a server to a reader of the SDK of OpenTelemetry', async () => {
    await using server = await createApiServer({ storage: memoryStorage() })
    await server.handle({
      ...{ method: 'GET', path: '/api/v1/namespaces/default', query: '', headers: {}, peer: {} },
      body: async () => new Uint8Array(),
      signal: new AbortController().signal,
    })
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, metricProducers: [createMetricProducer(server)] })
    const provider = new MeterProvider({ readers: [reader] })
    await provider.forceFlush()
    const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    await provider.shutdown()
    const named = (name: string) => metrics.find(({ descriptor }) => descriptor.name === name)
    expect(named('apiserver_request_total')).toMatchObject({ isMonotonic: true, dataPoints: [{ value: 1 }] })
    expect(named('apiserver_request_duration_seconds')).toMatchObject({
      descriptor: { unit: 's' },
      dataPoints: [{ attributes: { resource: 'namespaces' }, value: { count: 1 } }],
    })
  })
})
