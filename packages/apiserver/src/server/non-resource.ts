import type { OpenIdMetadata } from '@krmkit/authentication/service-account'
import { concatBytes } from '@krmkit/base/bytes'
import { runtimeFacts } from '@krmkit/base/platform'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, defaultRelease, type Features, type GroupVersion } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import { createDiscovery, type Discovery } from '../discovery/discovery.ts'
import type { AggregatedVersion } from '../discovery/documents.ts'
import type { RemoteVersion } from '../discovery/remote-version.ts'
import { gitVersion, versionDocument } from '../discovery/version.ts'
import { wantsPretty } from '../encoding/indentation.ts'
import { type HealthCheck, type HealthChecks, healthResponse } from '../health/health.ts'
import { stageChecks } from '../health/health-stages.ts'
import { storageCheck } from '../health/storage-check.ts'
import { Negotiator, type Representation } from '../media/negotiation.ts'
import {
  bytesBody,
  encodeObject,
  jsonResponse,
  plainResponse,
  type ResponseWriter,
  textResponse,
} from '../media/response-writer.ts'
import { HealthMetrics } from '../metrics/health-metrics.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { prometheusTextType } from '../metrics/prometheus-text.ts'
import { createOpenApi } from '../openapi/openapi.ts'
import type { RemoteSource } from '../openapi/remote-documents.ts'
import { header, type RequestContext } from '../request/context.ts'
import { groupVersionPath } from '../request/info.ts'
import type { Query } from '../request/query.ts'
import type { ServerScope } from '../request/scope.ts'
import { issuerPaths, issuerResponse } from './issuer-discovery.ts'
import { createZPages, zPagePaths } from './zpages.ts'

/** Version of this software, the part after `+krmkit.` in `gitVersion`. */
export const softwareVersion = '0.2.0'

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
  /** Flags of the process, for `/flagz`. */
  readonly flags?: Readonly<Record<string, string>> | undefined
}

/** Serves one group of paths; undefined for other paths. */
type Route = (context: RequestContext, path: string) => ApiResponse | undefined | Promise<ApiResponse | undefined>

/** Serves all non-resource paths: health, metrics, version, discovery, OpenAPI, the list of paths. */
export function createNonResourceRoutes(options: NonResourceOptions): (context: RequestContext) => Promise<ApiResponse> {
  const { flowPages } = options
  const healthMetrics = new HealthMetrics()
  const checks = healthChecks(options)
  const discovery = createDiscovery({
    resources: options.resources,
    serverAddress: () => options.serverAddress,
    profile: options.scope.profile,
    aggregated: aggregatedAt(options.scope.features),
    nullTimes: !options.scope.features.release.atLeast('1.34'),
    storageVersionHashes: gateEnabled('StorageVersionHash', options.scope.features),
    ...(options.remote === undefined ? {} : { remote: options.remote }),
  })
  const routes: readonly Route[] = [
    healthRoute(checks, healthMetrics),
    versionRoute(options),
    metricsRoute(options.metrics, healthMetrics),
    ({ query, info }) => flowPages?.(info.path, query),
    zPagesRoute(options),
    issuerRoute(options),
    openApiRoute(options),
    rootRoute(options, checks),
    discoveryRoute(options, discovery),
  ]
  return async (context) => {
    const { path } = context.info
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    for (const route of routes) {
      const response = await route(context, trimmed)
      if (response !== undefined) return response
    }
    return notServed(discovery, path)
  }
}

/** The versions of the aggregated form that a release has. */
function aggregatedAt(features: Features): readonly AggregatedVersion[] {
  const { release } = features
  const hasBeta = release.atLeast('1.27') && !gateEnabled('AggregatedDiscoveryRemoveBetaType', features)
  return [...(release.atLeast('1.30') ? (['v2'] as const) : []), ...(hasBeta ? (['v2beta1'] as const) : [])]
}

/** The 404 of a path that no route serves. @throws ApiError 404 below the paths of built-in groups. */
function notServed(discovery: Discovery, path: string): ApiResponse {
  const [, root = '', group = '', ...rest] = path.split('/')
  const isResourcePath = root === 'api' || (root === 'apis' && rest.length > 0)
  if (isResourcePath && discovery.notServed(root === 'api' ? '' : group).form === 'status') throw ApiError.genericNotFound()
  return pageNotFound()
}

function pageNotFound(): ApiResponse {
  return textResponse(404, '404 page not found\n')
}

function healthChecks({ scope, remote, flowPages, started, readiness }: NonResourceOptions): HealthChecks {
  const ping: HealthCheck = { name: 'ping', check: () => {} }
  const log: HealthCheck = { name: 'log', check: () => {} }
  const check = storageCheck(scope)
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (scope.closing.aborted) throw new Error('the server is shutting down')
    },
  }
  // Clients expect these check names for every storage backend.
  const [storage, storageReady] = [
    { name: 'etcd', check },
    { name: 'etcd-readiness', check },
  ] as const
  const informers: HealthCheck = { name: 'informer-sync', check: () => {} }
  const parts = { aggregation: remote !== undefined, flowControl: flowPages !== undefined, roles: started.length > 0 }
  const hooks = stageChecks(parts, started, scope.features)
  const live = [ping, log, storage, ...hooks]
  return {
    '/healthz': live,
    '/livez': live,
    '/readyz': [ping, log, storage, storageReady, informers, ...hooks, ...readiness, shutdown],
  }
}

function healthRoute(checks: HealthChecks, metrics: HealthMetrics): Route {
  const observe = metrics.observe.bind(metrics)
  return ({ info, query }) => healthResponse(info.path, query, checks, observe)
}

function versionRoute({ scope, release }: NonResourceOptions): Route {
  const { responses } = scope
  const runtime = runtimeFacts()
  const version = versionDocument({
    release,
    software: softwareVersion,
    runtime: { name: runtime.name, version: runtime.version, engine: 'v8' },
    platform: runtime,
  })
  return ({ request }, path) => {
    if (path === '/version') {
      if (request.method !== 'GET') throw ApiError.generic(405)
      responses.negotiator.requireAccepted(header(request, 'accept'), ['application/json'])
      return indentedResponse(version)
    }
    if (path.startsWith('/version/')) throw ApiError.genericNotFound()
    return undefined
  }
}

function metricsRoute(metrics: Metrics, healthMetrics: HealthMetrics): Route {
  const serveMetrics = async (): Promise<ApiResponse> => {
    const { parts, contentType } = await metrics.expose()
    return { status: 200, headers: { 'content-type': contentType }, body: responseBody(parts) }
  }
  return ({ request, info: { path } }) => {
    if (path !== '/metrics' && path !== '/metrics/slis') return undefined
    // Differs: requests cannot reset the metrics.
    if (request.method === 'DELETE') throw ApiError.generic(405)
    return path === '/metrics'
      ? serveMetrics()
      : { ...textResponse(200, healthMetrics.text()), headers: { 'content-type': prometheusTextType } }
  }
}

function zPagesRoute({ scope, flags }: NonResourceOptions): Route {
  const { features, clock } = scope
  const { name, version } = runtimeFacts()
  const pages = createZPages({ features, clock, flags, runtime: `${name}${version}`, newest: defaultRelease })
  return ({ request }, path) => pages(path, header(request, 'accept'))
}

/** The OpenID Connect discovery of the service account issuer. */
function issuerRoute({ scope, issuerDocuments }: NonResourceOptions): Route {
  const { negotiator } = scope.responses
  return ({ request }, path) => {
    const accept = header(request, 'accept')
    return issuerResponse(issuerDocuments, {
      path,
      method: request.method,
      accepts: (type) => negotiator.requireAccepted(accept, [type]),
    })
  }
}

function openApiRoute(options: NonResourceOptions): Route {
  const { scope, resources, release, issuerDocuments, remoteDocuments } = options
  const openApi = createOpenApi({
    resources,
    types: scope.responses.types,
    version: gitVersion({ release, software: softwareVersion }),
    release,
    profile: scope.profile,
    clock: scope.clock,
    turns: scope.turns,
    issuer: issuerDocuments !== undefined,
    enums: gateEnabled('OpenAPIEnums', scope.features),
    cbor: scope.responses.cbor !== undefined,
    ...(remoteDocuments === undefined ? {} : { remote: remoteDocuments }),
  })
  return ({ info, request }) => {
    if (!info.path.startsWith('/openapi/')) return undefined
    return openApi.serve({ path: info.path, query: request.query, headers: request.headers })
  }
}

/** A document without a kind: always indented JSON, as on kube-apiserver. */
function indentedResponse(document: object): ApiResponse {
  return jsonResponse(200, bytesBody(new TextEncoder().encode(JSON.stringify(document, null, 2))))
}

/** The list of paths at `/`. */
function rootRoute({ resources, remote, issuerDocuments, scope, flags }: NonResourceOptions, checks: HealthChecks): Route {
  const health = Object.entries(checks).flatMap(([root, all]) => [root, ...all.map(({ name }) => `${root}/${name}`)])
  const fixed = [
    ...health,
    ...fixedPaths,
    ...zPagePaths({ features: scope.features, flags }),
    ...(issuerDocuments === undefined ? [] : issuerPaths),
  ]
  return (_, path) => {
    if (path !== '/' && path !== '/index.html') return undefined
    const served = servedPaths([...resources(), ...(remote?.() ?? [])])
    return indentedResponse({ paths: [...new Set([...fixed, ...served])].sort() })
  }
}

function discoveryRoute({ scope }: NonResourceOptions, discovery: Discovery): Route {
  // Most documents have no CBOR form.
  const responses = { ...scope.responses, negotiator: new Negotiator(scope.profile) }
  const encoded = new EncodedDocuments()
  return (context) => {
    const { info, request } = context
    const result = discovery.resolve({ path: info.path, headers: request.headers })
    if (result === undefined) return undefined
    if (result.outcome === 'notServed') {
      if (result.form === 'text') return pageNotFound()
      throw ApiError.genericNotFound()
    }
    if (request.method !== 'GET' && !servesMethod(result, request)) throw ApiError.generic(405)
    const type = () => responses.types.struct(structName(result.kind))
    if (result.outcome === 'document') {
      const writer = result.hasCbor ? scope.responses : responses
      const representation = negotiateDocument(writer, header(request, 'accept'), result.refusal)
      const shown = { ...representation, pretty: wantsPretty(context, representation) }
      return plainResponse(writer, 200, result.object, shown, type)
    }
    const { encoding, headers, notModified, object } = result
    const pretty = wantsPretty(context, result)
    if (notModified) return { status: 304, headers, body: { kind: 'empty' } }
    const bytes = encoded.bytes(object, { encoding, pretty }, () => encodeObject(object, { encoding, pretty }, type))
    return { status: 200, headers, body: bytesBody(bytes) }
  }
}

/**
 * Whether discovery serves a method. As on kube-apiserver, groups and their list are served to any method, the aggregated document of
 * `/apis` also to HEAD, and the group of the aggregation layer only to GET.
 */
function servesMethod(
  { outcome, kind }: { readonly outcome: string; readonly kind: { readonly kind: string } },
  { method, path }: { readonly method: string; readonly path: string },
): boolean {
  if (outcome === 'aggregated') return method === 'HEAD' && path.startsWith('/apis')
  if (path.startsWith('/apis/apiregistration.k8s.io')) return false
  return kind.kind === 'APIGroup' || kind.kind === 'APIGroupList'
}

/** Caches the encodings of documents by object: a document stays the same object until it changes. */
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
  return length <= maxSingleChunkBytes ? bytesBody(concatBytes(parts)) : { kind: 'list', parts, length }
}

const maxSingleChunkBytes = 1024 * 1024

/** Negotiates the representation of a discovery document. */
function negotiateDocument(
  responses: ResponseWriter,
  accept: string | undefined,
  refusal: 'router' | 'mediaTypes',
): Representation {
  const { negotiator } = responses
  if (refusal === 'router') negotiator.requireAccepted(accept, negotiator.produced())
  return negotiator.negotiate(accept)
}

function structName({ group, version, kind }: { group: string; version: string; kind: string }): string {
  return group === '' ? `meta/v1.${kind}` : `${group.split('.')[0]}/${version}.${kind}`
}

const fixedPaths = [
  '/api',
  '/apis',
  '/apis/',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/version',
]

function servedPaths(served: readonly GroupVersion[]): string[] {
  return served.flatMap(({ group, version }) => [groupVersionPath(group, version), ...(group === '' ? [] : [`/apis/${group}`])])
}
