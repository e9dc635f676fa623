import type { OpenIdMetadata } from '@krmkit/authentication/service-account'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type GroupVersion } from '@krmkit/meta'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import type { RemoteVersion } from './aggregation/interfaces.ts'
import { createDiscovery } from './discovery/discovery.ts'
import { gitVersion, versionDocument } from './discovery/version.ts'
import { wantsPretty } from './encoding/indentation.ts'
import { mediaType, type Representation } from './encoding/negotiation.ts'
import {
  bytesBody,
  encodeObject,
  jsonResponse,
  plainResponse,
  type ResponseWriter,
  textResponse,
} from './encoding/response-writer.ts'
import { type HealthCheck, healthResponse } from './health/health.ts'
import { stageChecks } from './health/health-stages.ts'
import { issuerPaths, issuerResponse } from './issuer-discovery.ts'
import { HealthMetrics } from './metrics/health-metrics.ts'
import type { Metrics } from './metrics/metrics.ts'
import { createOpenApi } from './openapi/openapi.ts'
import type { RemoteSource } from './openapi/remote-documents.ts'
import type { Query } from './query.ts'
import { header, type RequestContext } from './request-context.ts'
import { groupVersionPath } from './request-info.ts'
import type { ServerScope } from './request-scope.ts'

/** Version of this software, the part after `+krmkit.` in `gitVersion`. */
export const softwareVersion = '0.1.0'

export interface NonResourceOptions {
  readonly scope: ServerScope
  /** The served resources. A change replaces the array. */
  readonly resources: () => readonly ResourceDefinition[]
  /** Group versions of aggregated servers. */
  readonly remote?: (() => readonly RemoteVersion[]) | undefined
  /** OpenAPI documents of aggregated servers. */
  readonly remoteDocuments?: RemoteSource | undefined
  readonly metrics: Metrics
  /** Debug pages of priority and fairness. */
  readonly flowPages?: (path: string, query: Query) => ApiResponse | undefined
  readonly readiness: readonly HealthCheck[]
  /** Checks of start-up hooks, available by name at all health endpoints. */
  readonly started: readonly HealthCheck[]
  readonly serverAddress: string
  /** Release of the API, as `1.33`. */
  readonly release: string
  /** Discovery documents of the service account issuer. */
  readonly issuerDocuments?: OpenIdMetadata | undefined
}

/** Serves one group of paths; undefined for other paths. */
type Route = (context: RequestContext, path: string) => ApiResponse | undefined | Promise<ApiResponse | undefined>

/** Serves all non-resource paths: health, metrics, version, discovery, OpenAPI, the list of paths. */
export function createNonResourceRoutes(options: NonResourceOptions): (context: RequestContext) => Promise<ApiResponse> {
  const { issuerDocuments, flowPages } = options
  const healthMetrics = new HealthMetrics()
  const routes: readonly Route[] = [
    healthRoute(options, healthMetrics),
    versionRoute(options),
    metricsRoute(options.metrics, healthMetrics),
    ({ request, query }, path) => (request.method === 'GET' ? flowPages?.(path, query) : undefined),
    ({ request, info }) => issuerResponse(issuerDocuments, { path: info.path, method: request.method }),
    openApiRoute(options),
    rootRoute(options),
    discoveryRoute(options),
  ]
  return async (context) => {
    const { path } = context.info
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    for (const route of routes) {
      const result = route(context, trimmed)
      const response = result instanceof Promise ? await result : result
      if (response !== undefined) return response
    }
    return pageNotFound()
  }
}

function pageNotFound(): ApiResponse {
  return textResponse(404, '404 page not found\n')
}

function healthRoute({ scope, remote, started, readiness }: NonResourceOptions, metrics: HealthMetrics): Route {
  const ping: HealthCheck = { name: 'ping', check: () => {} }
  const log: HealthCheck = { name: 'log', check: () => {} }
  // Clients expect this name for every storage backend.
  const storage: HealthCheck = {
    name: 'etcd',
    check: () => {
      if (Number(scope.registry.resourceVersion) < 1) throw new Error('the store has no revision')
    },
  }
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (scope.closing.aborted) throw new Error('the server is shutting down')
    },
  }
  const informers: HealthCheck = { name: 'informer-sync', check: () => {} }
  const live = [ping, log, storage, ...stageChecks({ aggregation: remote !== undefined }), ...started]
  const checks = {
    '/healthz': live,
    '/livez': live,
    '/readyz': [...live, informers, ...readiness, shutdown],
  }
  const observe = metrics.observe.bind(metrics)
  return ({ info, query }) => healthResponse(info.path, query, checks, observe)
}

function versionRoute({ scope, release }: NonResourceOptions): Route {
  const { responses } = scope
  const version = versionDocument({
    release,
    software: softwareVersion,
    runtime: { name: 'node', version: process.versions.node, engine: 'v8' },
    platform: { os: process.platform, architecture: process.arch },
  })
  return ({ request }, path) => {
    if (path === '/version') {
      if (request.method !== 'GET') throw ApiError.generic(405)
      responses.negotiator.negotiate(header(request, 'accept'), { encodings: ['json'] })
      return indentedResponse(version)
    }
    if (path.startsWith('/version/')) throw ApiError.genericNotFound()
    return undefined
  }
}

function metricsRoute(metrics: Metrics, healthMetrics: HealthMetrics): Route {
  const prometheusText = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
  const serveMetrics = async (): Promise<ApiResponse> => {
    const { parts, contentType } = await metrics.expose()
    return { status: 200, headers: { 'content-type': contentType }, body: responseBody(parts) }
  }
  return ({ request }, path) => {
    if (request.method !== 'GET') return undefined
    if (path === '/metrics') return serveMetrics()
    return path === '/metrics/slis' ? { ...textResponse(200, healthMetrics.text()), headers: prometheusText } : undefined
  }
}

function openApiRoute(options: NonResourceOptions): Route {
  const { scope, resources, release, issuerDocuments, remoteDocuments } = options
  const openApi = createOpenApi({
    resources,
    types: scope.responses.types,
    version: gitVersion({ release, software: softwareVersion }),
    profile: scope.profile,
    clock: scope.clock,
    slices: scope.slices,
    issuer: issuerDocuments !== undefined,
    ...(remoteDocuments === undefined ? {} : { remote: remoteDocuments }),
  })
  return ({ info, request }, path) => {
    if (!path.startsWith('/openapi/')) return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') throw ApiError.generic(405)
    return openApi.serve({ path: info.path, query: request.query, headers: request.headers })
  }
}

/** A document without a kind: always indented JSON, as on the stock server. */
function indentedResponse(document: object): ApiResponse {
  return jsonResponse(200, bytesBody(new TextEncoder().encode(JSON.stringify(document, null, 2))))
}

/** The list of paths at `/`. */
function rootRoute({ resources, remote, issuerDocuments }: NonResourceOptions): Route {
  return ({ request }, path) => {
    if (path !== '/' || request.method !== 'GET') return undefined
    const served = rootPaths([...resources(), ...(remote?.() ?? [])])
    const paths = issuerDocuments === undefined ? served : [...served, ...issuerPaths].sort()
    return indentedResponse({ paths })
  }
}

function discoveryRoute({ scope, resources, remote, serverAddress }: NonResourceOptions): Route {
  const { profile, responses } = scope
  const discovery = createDiscovery({
    resources,
    serverAddress: () => serverAddress,
    profile,
    ...(remote === undefined ? {} : { remote }),
  })
  const encoded = new EncodedDocuments()
  return (context) => {
    const { info, request } = context
    const result = discovery.resolve({ path: info.path, headers: request.headers })
    if (result === undefined) return undefined
    if (result.outcome === 'notServed') {
      if (result.form === 'text') return pageNotFound()
      throw ApiError.genericNotFound()
    }
    if (request.method !== 'GET') throw ApiError.generic(405)
    const type = () => responses.types.struct(structName(result.kind))
    if (result.outcome === 'document') {
      const representation = negotiateDocument(responses, header(request, 'accept'), result.refusal)
      const shown = { ...representation, pretty: wantsPretty(context, representation) }
      return plainResponse(responses, 200, result.object, shown, type)
    }
    const { encoding, headers, notModified, object } = result
    const pretty = wantsPretty(context, result)
    if (notModified) return { status: 304, headers, body: { kind: 'empty' } }
    const bytes = encoded.bytes(object, { encoding, pretty }, () => encodeObject(object, encoding, pretty, type))
    return { status: 200, headers, body: bytesBody(bytes) }
  }
}

/** Caches the encodings of documents, which stay the same objects while nothing changes. */
class EncodedDocuments {
  readonly #encodings = new WeakMap<object, Map<string, Uint8Array>>()

  bytes(object: object, { encoding, pretty }: Representation, encode: () => Uint8Array): Uint8Array {
    const form = `${encoding} ${pretty}`
    const encodings = this.#encodings.get(object) ?? new Map<string, Uint8Array>()
    this.#encodings.set(object, encodings)
    const bytes = encodings.get(form) ?? encode()
    encodings.set(form, bytes)
    return bytes
  }
}

/** Joins small bodies into one chunk. Large bodies are not copied. */
function responseBody(parts: readonly Uint8Array[]): ApiBody {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return length <= maxSingleChunkBytes ? bytesBody(Buffer.concat(parts)) : { kind: 'list', parts, length }
}

const maxSingleChunkBytes = 1024 * 1024

/** Negotiates the representation. Except for resource lists, the 406 has a different message than that of resources. */
function negotiateDocument(
  responses: ResponseWriter,
  accept: string | undefined,
  refusal: 'router' | 'mediaTypes',
): Representation {
  const { negotiator, vendor } = responses
  try {
    return negotiator.negotiate(accept)
  } catch (error) {
    if (refusal === 'router') throw error
    const types = [...encodings].map((encoding) => mediaType(encoding, vendor)).join(', ')
    throw ApiError.notAcceptable(`only the following media types are accepted: ${types}`)
  }
}

const encodings = ['json', 'yaml', 'protobuf'] as const

function structName({ group, version, kind }: { group: string; version: string; kind: string }): string {
  return group === '' ? `meta/v1.${kind}` : `${group.split('.')[0]}/${version}.${kind}`
}

function rootPaths(served: readonly GroupVersion[]): string[] {
  const paths = new Set([
    '/api',
    '/apis',
    '/healthz',
    '/livez',
    '/metrics',
    '/metrics/slis',
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ])
  for (const { group, version } of served) {
    paths.add(groupVersionPath(group, version))
    if (group !== '') paths.add(`/apis/${group}`)
  }
  return [...paths].sort()
}
