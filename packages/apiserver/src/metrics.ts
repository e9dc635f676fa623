import { Counter, Gauge, Histogram, Registry as MetricRegistry } from 'prom-client'
import type { Filter } from './request-state.ts'

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
  /** Text of `/metrics`, and its content type. */
  expose(): Promise<{ text: string; contentType: string }>
}

const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

export function createMetrics(storage: { readonly revision: number }): Metrics {
  const registers = [new MetricRegistry()]
  const requests = new Counter({
    name: 'apiserver_request_total',
    help: 'Answered requests, by verb, resource and HTTP status code.',
    labelNames: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'code'],
    registers,
  })
  const durations = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Seconds from the arrival of a request to its answer; watches are left out.',
    labelNames: ['verb', 'group', 'version', 'resource', 'scope'],
    buckets: durationBuckets,
    registers,
  })
  const inFlight = new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being answered.',
    labelNames: ['request_kind'],
    registers,
  })
  const watches = new Counter({
    name: 'apiserver_watch_requests_total',
    help: 'Watches that were started.',
    labelNames: ['group', 'version', 'resource'],
    registers,
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
      this.set(storage.revision)
    },
  })
  const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])
  return {
    filter: async (state, next) => {
      const { info } = state
      const kind = writes.has(info.verb) ? 'mutating' : 'readOnly'
      inFlight.inc({ request_kind: kind })
      const from = performance.now()
      try {
        const response = await next()
        const { group, version, resource, subresource } = info
        const scope = !info.isResource ? '' : info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster'
        const known = response.status !== 404 || !info.isResource
        const labels = known ? { group, version, resource } : { group: '', version: '', resource: '' }
        const verb = info.isResource ? info.verb.toUpperCase() : info.verb === 'get' ? 'GET' : 'other'
        requests.inc({ verb, ...labels, subresource: known ? subresource : '', scope, code: response.status })
        if (info.verb === 'watch') watches.inc(labels)
        else durations.observe({ verb, ...labels, scope }, (performance.now() - from) / 1000)
        return response
      } finally {
        inFlight.dec({ request_kind: kind })
      }
    },
    deprecatedRequest: (labels) => deprecated.set(labels, 1),
    expose: async () => ({
      text: await (registers[0] as MetricRegistry).metrics(),
      contentType: (registers[0] as MetricRegistry).contentType,
    }),
  }
}
