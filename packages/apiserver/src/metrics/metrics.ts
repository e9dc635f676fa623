import type { WebhookMetrics } from '@krmkit/admission'
import { type SliceScheduler, Slices } from '@krmkit/meta'
import { Counter, Gauge, Histogram, type Metric, Registry as MetricRegistry } from 'prom-client'
import type { SampledMetric } from '../flow-control/flow-metrics.ts'
import type { Filter } from '../request-context.ts'
import { metricCode, type NamedResources, requestLabeler } from './request-labels.ts'
import { RequestMetrics } from './request-metrics.ts'

/** Metrics of one server, under the names that dashboards of stock servers know. */
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
  /** Whether other servers are there that serve group versions of ours. */
  readonly availability: AvailabilityMetrics
  /** Adds a metric whose values are made when they are read. */
  register(metric: SampledMetric): void
  /** The pieces of the text of `/metrics`, and its content type. */
  expose(): Promise<{ parts: readonly Uint8Array[]; contentType: string }>
}

export interface MetricsOptions {
  /** The newest version of the store. */
  readonly resourceVersion: () => string
  /** Resources whose names may be labels. */
  readonly resources: NamedResources
  readonly slices: SliceScheduler
}

const requestTotal = {
  name: 'apiserver_request_total',
  help: 'Answered requests, by verb, resource and HTTP status code.',
}
const requestDuration = {
  name: 'apiserver_request_duration_seconds',
  help: 'Seconds from the arrival of a request to its answer; watches are left out.',
}
const watchTotal = { name: 'apiserver_watch_requests_total', help: 'Watches that were started.' }

/** Hears what becomes of APIService objects that name a service. */
export interface AvailabilityMetrics {
  /** @param lost why it is not there any more, when it was before. */
  observe(name: string, state: { readonly available: boolean; readonly lost?: string }): void
  remove(name: string): void
}

export function createMetrics({ resourceVersion, resources, slices }: MetricsOptions): Metrics {
  const registers = [new MetricRegistry()]
  const tallies = new RequestMetrics()
  const labelsOf = requestLabeler(resources)
  const flights = { mutating: 0, readOnly: 0 }
  new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being answered.',
    labelNames: ['request_kind'],
    registers,
    collect() {
      this.set({ request_kind: 'mutating' }, flights.mutating)
      this.set({ request_kind: 'readOnly' }, flights.readOnly)
    },
  })
  const deprecated = new Gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Set to 1 for each deprecated API that was asked for, with the release that removes it.',
    labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    registers,
  })
  new Gauge({
    name: 'apiserver_storage_revision',
    help: 'Newest durable revision of the store.',
    registers,
    collect() {
      this.set(Number(resourceVersion()))
    },
  })
  const unavailable = new Gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Set to 1 for each APIService whose server is not there, to 0 for others that name one.',
    labelNames: ['name'],
    registers,
  })
  const lost = new Counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'How often the server of an APIService was not there any more, by reason.',
    labelNames: ['name', 'reason'],
    registers,
  })
  const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])
  return {
    filter: async (context, next) => {
      const { info } = context
      const kind = writes.has(info.verb) ? 'mutating' : 'readOnly'
      flights[kind]++
      const from = performance.now()
      try {
        const response = await next()
        const seconds = info.verb === 'watch' ? undefined : (performance.now() - from) / 1000
        tallies.observe(labelsOf(context, response.status), seconds)
        return response
      } finally {
        flights[kind]--
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
      const texts = [tallies.totals(requestTotal), tallies.durations(requestDuration), tallies.watches(watchTotal)]
      const parts: Uint8Array[] = [Buffer.from(await registry.metrics())]
      for (const text of texts) parts.push(...(await encodedInSlices(text, new Slices(slices))))
      return { parts, contentType: registry.contentType }
    },
  }
}

const chunkCharacters = 64 * 1024

/** Text as UTF-8, in pieces that are made in turns of the event loop of their own when there are many. */
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

/** 0 stands for a failure that has no code. */
function webhookCode(code: number): number {
  return code === 0 ? 0 : metricCode(code)
}

/** @see API protocol specification, 6 */
function webhookMetrics(registers: MetricRegistry[]): WebhookMetrics {
  const prefix = 'apiserver_admission_webhook'
  const rejections = new Counter({
    name: `${prefix}_rejection_count`,
    help: 'Requests that ended at an admission webhook, by what went wrong and the HTTP status that it amounts to.',
    labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    registers,
  })
  const failOpen = new Counter({
    name: `${prefix}_fail_open_count`,
    help: 'Calls to admission webhooks that failed and were ignored.',
    labelNames: ['name', 'type'],
    registers,
  })
  const requests = new Counter({
    name: `${prefix}_request_total`,
    help: 'Calls to admission webhooks, by the HTTP status that they amount to.',
    labelNames: ['name', 'type', 'operation', 'code', 'rejected'],
    registers,
  })
  const durations = new Histogram({
    name: `${prefix}_admission_duration_seconds`,
    help: 'Seconds that admission webhooks took.',
    labelNames: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    registers,
  })
  const exclusions = new Counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Calls to admission webhooks that their match conditions spared.',
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
