import type { IssuerDocuments } from '@krmkit/authentication'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type GroupVersion } from '@krmkit/meta'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import type { RemoteVersion } from './aggregation/interfaces.ts'
import { createDiscovery, gitVersion, versionDocument } from './discovery/index.ts'
import { type Encoding, mediaType, type Representation } from './encoding/negotiation.ts'
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
import { createOpenApi, type RemoteSource } from './openapi/index.ts'
import { flag, type Query } from './query.ts'
import { header, type RequestContext } from './request-context.ts'
import type { ServerScope } from './request-scope.ts'

/** Version of this software: the part after `+krmkit.` in the version that the server tells. */
export const softwareVersion = '0.1.0'

export interface NonResourceOptions {
  readonly scope: ServerScope
  /** What is served now. The same array means that nothing has changed. */
  readonly resources: () => readonly ResourceDefinition[]
  /** What other servers serve. */
  readonly remote?: (() => readonly RemoteVersion[]) | undefined
  /** OpenAPI documents of other servers. */
  readonly remoteDocuments?: RemoteSource | undefined
  readonly metrics: Metrics
  /** Pages about priority and fairness. */
  readonly flowPages?: (path: string, query: Query) => ApiResponse | undefined
  readonly readiness: readonly HealthCheck[]
  /** What was done at the start, for those who ask for it by name. */
  readonly started: readonly HealthCheck[]
  readonly serverAddress: string
  /** Release of the API, as `1.33`. */
  readonly release: string
  /** Discovery of the issuer of service account tokens. */
  readonly issuerDocuments?: IssuerDocuments | undefined
}

/** Answers every path that names no resource: health, metrics, version, discovery, OpenAPI, the list of paths. */
export function createNonResourceRoutes(options: NonResourceOptions): (context: RequestContext) => Promise<ApiResponse> {
  const { scope, resources, metrics } = options
  const { profile, responses } = scope
  const discovery = createDiscovery({
    resources,
    serverAddress: () => options.serverAddress,
    profile,
    ...(options.remote === undefined ? {} : { remote: options.remote }),
  })
  const openApi = createOpenApi({
    resources,
    types: responses.types,
    version: gitVersion({ release: options.release, software: softwareVersion }),
    profile,
    clock: scope.clock,
    issuer: options.issuerDocuments !== undefined,
    ...(options.remoteDocuments === undefined ? {} : { remote: options.remoteDocuments }),
  })
  const ping: HealthCheck = { name: 'ping', check: () => {} }
  const log: HealthCheck = { name: 'log', check: () => {} }
  // Clients know the store by this name, whatever it is.
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
  const live = [ping, log, storage, ...stageChecks({ aggregation: options.remote !== undefined }), ...options.started]
  const checks = {
    '/healthz': live,
    '/livez': live,
    '/readyz': [...live, informers, ...options.readiness, shutdown],
  }
  const version = versionDocument({
    release: options.release,
    software: softwareVersion,
    runtime: { name: 'node', version: process.versions.node, engine: 'v8' },
    platform: { os: process.platform, architecture: process.arch },
  })

  const tallies = new HealthMetrics()
  const observeHealth = tallies.observe.bind(tallies)

  const paths = () => {
    const known = rootPaths([...resources(), ...(options.remote?.() ?? [])])
    return options.issuerDocuments === undefined ? known : [...known, ...issuerPaths].sort()
  }

  const kept = new EncodedDocuments()
  return async (context) => {
    const { info, request, query } = context
    const health = await healthResponse(info.path, query, checks, observeHealth)
    if (health !== undefined) return health
    const trimmed = info.path.length > 1 && info.path.endsWith('/') ? info.path.slice(0, -1) : info.path
    const readOnly = request.method === 'GET'
    if (trimmed === '/version') {
      if (!readOnly) throw ApiError.generic(405)
      const { encoding, pretty } = responses.negotiator.negotiate(header(request, 'accept'), { encodings: ['json'] })
      return jsonResponse(
        200,
        bytesBody(
          encodeObject(version, encoding, pretty || flag(query, 'pretty'), () => responses.types.struct('meta/v1.Status')),
        ),
      )
    }
    if (trimmed.startsWith('/version/')) throw ApiError.genericNotFound()
    if (trimmed === '/metrics' && readOnly) {
      const { parts, contentType } = await metrics.expose()
      return { status: 200, headers: { 'content-type': contentType }, body: responseBody(parts) }
    }
    if (trimmed === '/metrics/slis' && readOnly) {
      return { ...textResponse(200, tallies.text()), headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }
    }
    const page = readOnly ? options.flowPages?.(trimmed, query) : undefined
    if (page !== undefined) return page
    const issued = issuerResponse(options.issuerDocuments, { path: info.path, method: request.method })
    if (issued !== undefined) return issued
    if (trimmed.startsWith('/openapi/') && !readOnly && request.method !== 'HEAD') throw ApiError.generic(405)
    const documents = openApi.serve({ path: info.path, query: request.query, headers: request.headers })
    if (documents !== undefined) return await documents
    if (trimmed === '/' && readOnly)
      return jsonResponse(200, bytesBody(new TextEncoder().encode(`${JSON.stringify({ paths: paths() })}\n`)))
    const found = discovery.resolve({ path: info.path, headers: request.headers })
    if (found === undefined) return textResponse(404, '404 page not found\n')
    if (found.outcome === 'nothing') {
      if (found.form === 'text') return textResponse(404, '404 page not found\n')
      throw ApiError.genericNotFound()
    }
    if (!readOnly) throw ApiError.generic(405)
    const struct = () => responses.types.struct(structName(found.kind))
    if (found.outcome === 'aggregated') {
      const { encoding, headers, notModified, object } = found
      return notModified
        ? { status: 304, headers, body: { kind: 'empty' } }
        : {
            status: 200,
            headers,
            body: bytesBody(kept.bytes(object, encoding, () => encodeObject(object, encoding, false, struct))),
          }
    }
    const representation = negotiateDocument(responses, header(request, 'accept'), found.refusal)
    return plainResponse(responses, 200, found.object, representation, struct)
  }
}

/** The encoded forms of documents that stay the same objects for as long as nothing changes. */
class EncodedDocuments {
  readonly #encodings = new WeakMap<object, Map<Encoding, Uint8Array>>()

  bytes(object: object, encoding: Encoding, encode: () => Uint8Array): Uint8Array {
    const known = this.#encodings.get(object) ?? new Map<Encoding, Uint8Array>()
    this.#encodings.set(object, known)
    const bytes = known.get(encoding) ?? encode()
    known.set(encoding, bytes)
    return bytes
  }
}

/** Small bodies as one piece, which is the usual form of an answer; large ones are not copied. */
function responseBody(parts: readonly Uint8Array[]): ApiBody {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return length <= maxSingleChunkBytes ? bytesBody(Buffer.concat(parts)) : { kind: 'list', parts, length }
}

const maxSingleChunkBytes = 1024 * 1024

/** Documents that the router does not answer are refused in other words. */
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
    paths.add(group === '' ? `/api/${version}` : `/apis/${group}/${version}`)
    if (group !== '') paths.add(`/apis/${group}`)
  }
  return [...paths].sort()
}
