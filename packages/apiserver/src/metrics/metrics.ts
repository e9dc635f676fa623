import type { AdmissionMetrics } from '@krmkit/admission'
import type { AuthorizationMetrics } from '@krmkit/authorization'
import { utf8Bytes } from '@krmkit/base/bytes'
import { Pace, type Turns } from '@krmkit/base/work'
import type { FeatureGateState } from '@krmkit/meta'
import type { Filter } from '../request/context.ts'
import { admissionMetrics } from './admission-metrics.ts'
import { authorizationMetrics } from './authorization-metrics.ts'
import { Instruments } from './instruments.ts'
import { prometheusTextType } from './prometheus-text.ts'
import { type NamedResources, requestLabeler } from './request-labels.ts'
import { RequestMetrics } from './request-metrics.ts'
import type { SampledMetric } from './sampled-metric.ts'

/** Metrics of one server, under the names of kube-apiserver. */
export interface Metrics {
  readonly filter: Filter
  deprecatedRequest(labels: {
    group: string
    version: string
    resource: string
    subresource: string
    removed_release: string
  }): void
  readonly admission: AdmissionMetrics
  readonly authorization: AuthorizationMetrics
  /** The availability of aggregated API servers. */
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
  readonly turns: Turns
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

export function createMetrics({ resourceVersion, resources, turns, gates = [] }: MetricsOptions): Metrics {
  const instruments = new Instruments()
  const requests = new RequestMetrics()
  const labelsOf = requestLabeler(resources)
  const inFlight = { mutating: 0, readOnly: 0 }
  instruments.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Number of requests in flight.',
    labelNames: ['request_kind'],
    collect(gauge) {
      gauge.set({ request_kind: 'mutating' }, inFlight.mutating)
      gauge.set({ request_kind: 'readOnly' }, inFlight.readOnly)
    },
  })
  const deprecated = instruments.gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Set to 1 for each requested deprecated API, with the release that removes it.',
    labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
  })
  instruments.gauge({
    name: 'apiserver_storage_revision',
    help: 'Current durable revision of the store.',
    collect: (gauge) => gauge.set({}, Number(resourceVersion())),
  })
  const unavailable = instruments.gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Set to 1 for each unavailable APIService with a service, to 0 for available ones.',
    labelNames: ['name'],
  })
  const lost = instruments.counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'Number of times an APIService became unavailable, by reason.',
    labelNames: ['name', 'reason'],
  })
  featureMetric(gates, instruments)
  const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])
  return {
    filter: async (context, next) => {
      const { info } = context
      const kind = writes.has(info.verb) ? 'mutating' : 'readOnly'
      inFlight[kind]++
      const from = performance.now()
      try {
        const response = await next(context)
        const seconds = info.verb === 'watch' ? undefined : (performance.now() - from) / 1000
        requests.observe(labelsOf(context, response.status), seconds)
        return response
      } finally {
        inFlight[kind]--
      }
    },
    deprecatedRequest: (labels) => deprecated.set(labels, 1),
    admission: admissionMetrics(instruments),
    authorization: authorizationMetrics(instruments),
    availability: {
      observe(name, state) {
        unavailable.set({ name }, state.available ? 0 : 1)
        if (state.lost !== undefined) lost.inc({ name, reason: state.lost })
      },
      remove: (name) => unavailable.remove({ name }),
    },
    register: (metric) => instruments.register(metric),
    async expose() {
      const ofRequests = [requests.totals(requestTotal), requests.durations(requestDuration), requests.watches(watchTotal)]
      const pace = new Pace(turns)
      // Each scrape begins in a new slice, so that simultaneous scrapes do not add up to one long turn of the event loop.
      await pace.next()
      const parts: Uint8Array[] = []
      for (const texts of [instruments.texts(), ...ofRequests]) parts.push(...(await encodedInSlices(texts, pace)))
      return { parts, contentType: prometheusTextType }
    },
  }
}

const chunkCharacters = 64 * 1024

/** Encodes text as UTF-8 in chunks, yielding to the event loop between slices. */
async function encodedInSlices(texts: Iterable<string>, pace: Pace): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  let text = ''
  for (const one of texts) {
    text += one
    if (text.length >= chunkCharacters) {
      parts.push(utf8Bytes(text))
      text = ''
    }
    if (pace.due()) await pace.next()
  }
  parts.push(utf8Bytes(text))
  return parts
}

/** One series per gate; the stage of stable gates is empty. */
function featureMetric(gates: readonly FeatureGateState[], instruments: Instruments): void {
  const metric = instruments.gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Stage of each feature gate, and 1 if it is enabled.',
    labelNames: ['name', 'stage'],
  })
  for (const { name, stage, enabled } of gates)
    metric.set({ name, stage: stage === 'stable' ? '' : stage.toUpperCase() }, enabled ? 1 : 0)
}
