import { latin1Bytes, latin1Text, utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import type { Turns } from '@krmkit/base/work'
import { ApiError, type Clock } from '@krmkit/meta'
import type { ApiResponse, ProxiedRequest } from '@krmkit/protocol'
import { hostAndPort } from '../backends/addresses.ts'
import type { Backends } from '../backends/backends.ts'
import type { Location } from '../backends/interfaces.ts'
import { header, type RequestContext } from '../request/context.ts'
import { plainError } from './errors.ts'
import {
  cancelBody,
  forwardedBody,
  forwardedFor,
  forwardedHeaders,
  forwardedResponse,
  isUpgradeRequest,
} from './forwarded-message.ts'
import { type PageOptions, withRewrittenLinks } from './html-body.ts'
import { createRequestDeadline } from './request-deadline.ts'
import { cleanPath, escapePath } from './url-reference.ts'
import { type RewriteOptions, rewriteReference } from './url-rewriter.ts'

export interface ForwardOptions {
  readonly backends: Backends
  readonly clock: Clock
  readonly location: Location
  /** Maximum size of a body that cannot be streamed, in bytes. */
  readonly limitBytes: number
}

/** A request to a path of a backend. */
export interface ForwardedTarget {
  /** Decoded path; empty for the root. */
  readonly path: string
  /** Query of the path, without the question mark. */
  readonly query: string
}

/**
 * Forwards a request to a pod, a service or a node, and returns the response. Links, redirects and headers are rewritten so that they lead
 * through the proxy. An upgraded connection is tunnelled.
 *
 * Like kube-apiserver, upgrade requests lose their query.
 *
 * @throws ApiError
 */
export async function forward(
  context: RequestContext,
  options: ForwardOptions & { readonly turns: Turns },
): Promise<ApiResponse> {
  const { request, info } = context
  const requested = backendPath(info.rest, info.path)
  if (isUpgradeRequest(request)) return tunnel(context, { ...options, target: { path: requested, query: '' } })
  if (requested === '' && (request.method === 'GET' || request.method === 'HEAD')) return toRoot(context)
  const rewriting = rewriteOptions(context, requested, options.location)
  const path = escapePath(bytesOf(requested === '' ? '/' : requested))
  const headers = outgoingHeaders(context, options.location, false)
  headers['x-forwarded-uri'] = forwardedUri(rewriting.prefix, path)
  const target = `${path}${request.query === '' ? '' : `?${request.query}`}`
  const response = await send(context, { ...options, request: { method: request.method, path: target, headers } }, (reason) =>
    ApiError.serviceUnavailable(`error trying to reach service: ${reason}`),
  )
  return rewrittenResponse(withLocalHeaders(context, forwardedResponse(response)), { ...rewriting, turns: options.turns })
}

/**
 * Tunnels an upgraded connection. A response of the backend that refuses the upgrade is returned to the client.
 *
 * @throws ApiError 500 when the backend cannot be reached, or ignores the upgrade
 */
export async function tunnel(
  context: RequestContext,
  options: ForwardOptions & { readonly target: ForwardedTarget },
): Promise<ApiResponse> {
  const { request } = context
  const { path, query } = options.target
  const target = `${path === '' ? '/' : escapePath(bytesOf(path))}${query === '' ? '' : `?${query}`}`
  const headers = outgoingHeaders(context, options.location, true)
  const outgoing = { method: request.method, path: target, headers, upgrade: true }
  const response = await send(context, { ...options, request: outgoing }, (reason) =>
    plainError(`error dialing backend: ${reason}`),
  )
  if (response.status !== 101 && response.status < 400) {
    cancelBody(response)
    throw plainError(`invalid upgrade response: status code ${response.status}`)
  }
  return forwardedResponse(response)
}

/** The decoded path at the backend, without dot segments; the trailing slash of the request is kept. */
function backendPath(rest: readonly string[], path: string): string {
  const joined = rest.join('/')
  if (joined === '') return path.endsWith('/') ? '/' : ''
  const clean = cleanPath(`/${joined}`)
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean
}

/** Redirects to the path with a trailing slash, which relative links of a page need. */
function toRoot({ request, info }: RequestContext): ApiResponse {
  const location = `${escapePath(bytesOf(info.path))}/${request.query === '' ? '' : `?${request.query}`}`
  return { status: 301, headers: { location }, body: { kind: 'empty' } }
}

function rewriteOptions({ request, info }: RequestContext, path: string, location: Location): RewriteOptions {
  const full = bytesOf(info.path)
  const suffix = bytesOf(path)
  return {
    prefix: full.endsWith(suffix) ? full.slice(0, full.length - suffix.length) : full,
    backendHost: hostAndPort(location),
    clientHost: header(request, 'host') ?? '',
  }
}

/** The path of the request, in the form that kube-apiserver sends in `X-Forwarded-Uri`. */
function forwardedUri(prefix: string, path: string): string {
  const uri = cleanPath(`${utf8Text(latin1Bytes(prefix))}/${path}`)
  return path.endsWith('/') && !uri.endsWith('/') ? `${uri}/` : uri
}

function outgoingHeaders({ request }: RequestContext, location: Location, upgrade: boolean) {
  const headers = forwardedHeaders(request, upgrade)
  Object.assign(headers, forwardedFor(request))
  headers.host = header(request, 'host') ?? hostAndPort(location)
  const auditId = request.headers['audit-id']
  if (auditId !== undefined) headers['audit-id'] = auditId
  if (!upgrade && [request.headers.te ?? []].flat().some((value) => /\btrailers\b/i.test(value))) headers.te = 'trailers'
  return headers
}

/** @throws ApiError made from the reason when no response arrives. */
async function send(
  context: RequestContext,
  options: ForwardOptions & { readonly request: Omit<ProxiedRequest, 'signal' | 'body' | 'address'> },
  failure: (reason: string) => ApiError,
): Promise<ApiResponse> {
  const { backends, clock, limitBytes, location, request } = options
  const body = isBodiless(context, request.upgrade === true) ? undefined : await forwardedBody(context.request, limitBytes)
  const deadline = createRequestDeadline(context, clock)
  try {
    const { connection, address } = backends.connect(location)
    const outgoing = { ...request, address, ...(body === undefined ? {} : { body }), signal: deadline.signal }
    const response = await connection.send(outgoing)
    if (response.body.kind === 'connection' && request.upgrade !== true) {
      cancelBody(response)
      throw new Error('backend tried to switch protocol without being asked to')
    }
    return deadline.responseStarted(response)
  } catch (error) {
    deadline.release()
    throw failure(error instanceof Error ? error.message : String(error))
  }
}

/** Whether a request has no body: after an upgrade request without Content-Length, the connection carries the other protocol. */
function isBodiless({ request }: RequestContext, upgrade: boolean): boolean {
  return upgrade && request.headers['content-length'] === undefined
}

/** Puts the value of this server before that of the backend, for headers that both set. */
function withLocalHeaders({ auditId }: RequestContext, response: ApiResponse): ApiResponse {
  const headers = { ...response.headers }
  for (const [name, value] of [
    ['audit-id', auditId],
    ['cache-control', 'no-cache, private'],
  ] as const) {
    if (headers[name] !== undefined) headers[name] = [value, headers[name]].flat()
  }
  return { ...response, headers }
}

/** @throws ApiError 500 for a redirect whose location is not a URL. */
function rewrittenResponse(response: ApiResponse, options: RewriteOptions & Pick<PageOptions, 'turns'>): ApiResponse {
  const location = [response.headers.location ?? []].flat()[0] ?? ''
  if (location === '') {
    const rewriteUrl = (text: string) => {
      const link = rewriteReference(text, options)
      return 'url' in link ? link.url : text
    }
    return withRewrittenLinks(response, { rewriteUrl, turns: options.turns })
  }
  const redirect = rewriteReference(bytesOf(location), options)
  if ('url' in redirect) return { ...response, headers: { ...response.headers, location: redirect.url } }
  cancelBody(response)
  throw ApiError.internalError(`error trying to parse Location header: ${redirect.problem}`)
}

/** UTF-8 as a byte string. */
function bytesOf(text: string): string {
  return latin1Text(utf8Bytes(text))
}
