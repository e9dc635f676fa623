import type { WebhookMetrics } from '@krmkit/admission'
import type { FeatureGateState } from '@krmkit/meta'
import { type SliceScheduler, Slices } from '@krmkit/meta/slices'
import { Counter, Gauge, Histogram, type Metric, Registry as MetricRegistry } from 'prom-client'
import type { SampledMetric } from '../flow-control/flow-metrics.ts'
import type { Filter } from '../request-context.ts'
import { metricCode, type NamedResources, requestLabeler } from './request-labels.ts'
import { RequestMetrics } from './request-metrics.ts'

/** Metrics of one server, under the names of the stock server. */
export interface Metrics {
  readonly filter: Filter
  deprecatedRequest(labels: {
    group: string
    version: string
    resource: string
    subresource: string
    removed_release: string
  }): void
  /** Counts calls to admission webhooks. */
  readonly webhooks: WebhookMetrics
  /** Availability of aggregated API servers. */
  readonly availability: AvailabilityMetrics
  /** Adds a metric whose values are computed when they are read. */
  register(metric: SampledMetric): void
  /** The text of `/metrics` in chunks, and its content type. */
  expose(): Promise<{ parts: readonly Uint8Array[]; contentType: string }>
}

export interface MetricsOptions {
  /** The current resource version of the store. */
  readonly resourceVersion: () => string
  /** Resources whose names may become labels. */
  readonly resources: NamedResources
  readonly slices: SliceScheduler
  /** The feature gates of the server. */
  readonly gates?: readonly FeatureGateState[] | undefined
}

const requestTotal = {
  name: 'apiserver_request_total',
  help: 'Number of requests, by verb, resource and HTTP status code.',
}
const requestDuration = {
  name: 'apiserver_request_duration_seconds',
  help: 'Response latency in seconds, without watches.',
}
const watchTotal = { name: 'apiserver_watch_requests_total', help: 'Number of watches that were started.' }

/** Records the availability of APIService objects that name a service. */
export interface AvailabilityMetrics {
  /** @param lost the reason when an available service has become unavailable. */
  observe(name: string, state: { readonly available: boolean; readonly lost?: string }): void
  remove(name: string): void
}

export function createMetrics({ resourceVersion, resources, slices, gates = [] }: MetricsOptions): Metrics {
  const registers = [new MetricRegistry()]
  const requests = new RequestMetrics()
  const labelsOf = requestLabeler(resources)
  const inFlight = { mutating: 0, readOnly: 0 }
  new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Number of requests in flight.',
    labelNames: ['request_kind'],
    registers,
    collect() {
      this.set({ request_kind: 'mutating' }, inFlight.mutating)
      this.set({ request_kind: 'readOnly' }, inFlight.readOnly)
    },
  })
  const deprecated = new Gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Set to 1 for each requested deprecated API, with the release that removes it.',
    labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    registers,
  })
  new Gauge({
    name: 'apiserver_storage_revision',
    help: 'Current durable revision of the store.',
    registers,
    collect() {
      this.set(Number(resourceVersion()))
    },
  })
  const unavailable = new Gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Set to 1 for each unavailable APIService with a service, to 0 for available ones.',
    labelNames: ['name'],
    registers,
  })
  const lost = new Counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'Number of times an APIService became unavailable, by reason.',
    labelNames: ['name', 'reason'],
    registers,
  })
  featureMetric(gates, registers)
  const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])
  return {
    filter: async (context, next) => {
      const { info } = context
      const kind = writes.has(info.verb) ? 'mutating' : 'readOnly'
      inFlight[kind]++
      const from = performance.now()
      try {
        const response = await next()
        const seconds = info.verb === 'watch' ? undefined : (performance.now() - from) / 1000
        requests.observe(labelsOf(context, response.status), seconds)
        return response
      } finally {
        inFlight[kind]--
      }
    },
    deprecatedRequest: (labels) => deprecated.set(labels, 1),
    webhooks: webhookMetrics(registers),
    availability: {
      observe(name, state) {
        unavailable.set({ name }, state.available ? 0 : 1)
        if (state.lost !== undefined) lost.inc({ name, reason: state.lost })
      },
      remove: (name) => unavailable.remove({ name }),
    },
    register: (metric) => registers[0]?.registerMetric(metric as unknown as Metric),
    async expose() {
      const registry = registers[0] as MetricRegistry
      const texts = [requests.totals(requestTotal), requests.durations(requestDuration), requests.watches(watchTotal)]
      const parts: Uint8Array[] = [Buffer.from(await registry.metrics())]
      for (const text of texts) parts.push(...(await encodedInSlices(text, new Slices(slices))))
      return { parts, contentType: registry.contentType }
    },
  }
}

const chunkCharacters = 64 * 1024

/** Encodes text as UTF-8 in chunks, yielding to the event loop between slices. */
async function encodedInSlices(texts: Iterable<string>, slices: Slices): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  let text = ''
  for (const one of texts) {
    text += one
    if (text.length >= chunkCharacters) {
      parts.push(Buffer.from(text))
      text = ''
    }
    if (slices.due()) await slices.next()
  }
  parts.push(Buffer.from(text))
  return parts
}

/** One series per gate; the stage of stable gates is empty. */
function featureMetric(gates: readonly FeatureGateState[], registers: MetricRegistry[]): void {
  const metric = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Stage of each feature gate, and 1 if it is enabled.',
    labelNames: ['name', 'stage'],
    registers,
  })
  for (const { name, stage, enabled } of gates)
    metric.set({ name, stage: stage === 'stable' ? '' : stage.toUpperCase() }, enabled ? 1 : 0)
}

/** 0 means a failure without a code. */
function webhookCode(code: number): number {
  return code === 0 ? 0 : metricCode(code)
}

/** @see API protocol specification, 6 */
function webhookMetrics(registers: MetricRegistry[]): WebhookMetrics {
  const prefix = 'apiserver_admission_webhook'
  const rejections = new Counter({
    name: `${prefix}_rejection_count`,
    help: 'Number of requests rejected by admission webhooks, by error type and HTTP status code.',
    labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    registers,
  })
  const failOpen = new Counter({
    name: `${prefix}_fail_open_count`,
    help: 'Number of failed calls to admission webhooks that were ignored.',
    labelNames: ['name', 'type'],
    registers,
  })
  const requests = new Counter({
    name: `${prefix}_request_total`,
    help: 'Number of calls to admission webhooks, by HTTP status code.',
    labelNames: ['name', 'type', 'operation', 'code', 'rejected'],
    registers,
  })
  const durations = new Histogram({
    name: `${prefix}_admission_duration_seconds`,
    help: 'Latency of admission webhooks in seconds.',
    labelNames: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    registers,
  })
  const exclusions = new Counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Number of calls to admission webhooks that match conditions excluded.',
    labelNames: ['name', 'kind', 'type', 'operation'],
    registers,
  })
  return {
    called(labels, { seconds, rejected, code }) {
      requests.inc({ ...labels, code: webhookCode(code), rejected: String(rejected) })
      durations.observe({ ...labels, rejected: String(rejected) }, seconds)
    },
    rejected: (labels, { cause, code }) => rejections.inc({ ...labels, error_type: cause, rejection_code: webhookCode(code) }),
    failedOpen: ({ name, type }) => failOpen.inc({ name, type }),
    excluded: (labels) => exclusions.inc({ ...labels, kind: 'webhook' }),
  }
}
