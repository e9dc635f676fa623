import { headerValues, isValidHeaderText, removeTokenProtocols } from '@krmkit/authentication/headers'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse, ProxiedRequest } from '@krmkit/protocol'
import type { RequestContext } from '../request-context.ts'

/** Requests as aggregated servers receive them: the user is in headers that they trust because of the client certificate. */

/** Headers about one connection only. */
const hopByHop: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Headers that are meant for this server, or that it sets itself. */
const localHeaders: readonly string[] = ['audit-id', 'authorization', 'expect', 'host']

/** This server alone decides about CORS. */
const corsResponseHeaders: readonly string[] = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]

export const identityHeaders = { user: 'x-remote-user', group: 'x-remote-group', uid: 'x-remote-uid', extra: 'x-remote-extra-' }

/** @param host address and port of the destination. */
export function createProxiedRequest(
  context: RequestContext,
  { host, limitBytes }: { readonly host: string; readonly limitBytes: number },
): Omit<ProxiedRequest, 'signal' | 'body'> & { readonly readBody: () => Promise<ProxiedRequest['body']> } {
  const { request, auditId } = context
  const upgrade = request.upgradable === true && isUpgradeRequest(request.headers.connection)
  const headers = forwardedHeaders(request.headers)
  if (upgrade) {
    headers.connection = 'Upgrade'
    headers.upgrade = request.headers.upgrade ?? ''
  }
  Object.assign(headers, identityHeadersOf(context))
  headers['audit-id'] = auditId
  headers.host = host
  headers['x-forwarded-host'] = host
  headers['x-forwarded-proto'] = 'https'
  headers['x-forwarded-uri'] = request.path
  const from = request.peer.address
  if (from !== undefined) {
    const before = request.headers['x-forwarded-for']
    headers['x-forwarded-for'] = [before ?? [], from].flat().join(', ')
  }
  const path = request.query === '' ? request.path : `${request.path}?${request.query}`
  return { method: request.method, path, headers, upgrade, readBody: () => forwardedBody(context, limitBytes) }
}

/**
 * The headers that carry the user of the request.
 *
 * @throws ApiError 400 for a user that HTTP/1.1 headers cannot represent: the other server would see a different user.
 */
export function identityHeadersOf({ user }: Pick<RequestContext, 'user'>): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = { [identityHeaders.user]: user.username }
  if (user.groups.length > 0) headers[identityHeaders.group] = user.groups
  if (user.uid !== undefined && user.uid !== '') headers[identityHeaders.uid] = user.uid
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    if (values.length > 0) headers[identityHeaders.extra + headerName(key)] = values
  }
  for (const name in headers) {
    if (headerValues(headers[name]).every(isPreserved)) continue
    throw ApiError.badRequest('the user has attributes that cannot be represented in headers to the server of this API')
  }
  return headers
}

/** Leading and trailing white space is lost in transit. */
function isPreserved(value: string): boolean {
  return isValidHeaderText(value) && !/^[ \t]|[ \t]$/.test(value)
}

function isUpgradeRequest(connection: string | readonly string[] | undefined): boolean {
  return [connection ?? []].flat().some((value) => value.toLowerCase().includes('upgrade'))
}

function forwardedHeaders(headers: RequestContext['request']['headers']): Record<string, string | readonly string[]> {
  const dropped = new Set([...hopByHop, ...localHeaders, ...connectionOptions(headers.connection)])
  const out: Record<string, string | readonly string[]> = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || dropped.has(name) || name.startsWith(':')) continue
    // Only this server states the identity of the user.
    if (name.startsWith('x-remote-') || name.startsWith('impersonate-')) continue
    const forwarded = name === 'sec-websocket-protocol' ? removeTokenProtocols(value) : value
    if (forwarded !== undefined) out[name] = forwarded
  }
  return out
}

/** Names of the hop-by-hop headers that `Connection` lists. */
function connectionOptions(connection: string | readonly string[] | undefined): string[] {
  return [connection ?? []].flat().flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase()))
}

/** Streamed where the adapter supports it: of any length, never buffered whole. */
async function forwardedBody({ request }: RequestContext, limitBytes: number): Promise<ProxiedRequest['body']> {
  const { headers } = request
  const length = headers['content-length']
  if (request.stream !== undefined) {
    const isEmpty =
      headers['transfer-encoding'] === undefined && (length === undefined ? isBodilessMethod(request.method) : length === '0')
    return isEmpty ? undefined : request.stream()
  }
  const body = await request.body(limitBytes)
  return body.byteLength === 0 ? undefined : body
}

function isBodilessMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'DELETE' || method === 'OPTIONS'
}

/** Percent-encodes the bytes that header names must not contain, like the stock server. */
function headerName(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^a-z0-9!#$&'*+.^_`|~-]+/g, (text) =>
      [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    )
}

/** The response of another server without hop-by-hop and CORS headers. */
export function forwardedResponse(response: ApiResponse): ApiResponse {
  const dropped = new Set([...hopByHop, ...corsResponseHeaders, ...connectionOptions(response.headers.connection)])
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(response.headers)) if (!dropped.has(name)) headers[name] = value
  if (response.body.kind === 'connection') {
    headers.connection = 'Upgrade'
    if (response.headers.upgrade !== undefined) headers.upgrade = response.headers.upgrade
  }
  return { ...response, headers }
}
