import { removeTokenProtocols } from '@krmkit/authentication/headers'
import type { ApiRequest, ApiResponse, ProxiedRequest } from '@krmkit/protocol'

/** The parts of a request that are forwarded to another server, and of its response that are returned to the client. */

type Headers = Record<string, string | readonly string[]>

/** Headers that concern a single connection. */
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

/** Headers that are intended for this server, or that this server sets itself. */
const localHeaders: readonly string[] = ['audit-id', 'authorization', 'expect', 'host']

/** CORS headers, which only this server sets. */
const corsResponseHeaders: readonly string[] = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]

/** Whether the client requests another protocol on a connection that can switch to it. */
export function isUpgradeRequest({ headers, upgradable }: ApiRequest): boolean {
  return upgradable === true && [headers.connection ?? []].flat().some((value) => value.toLowerCase().includes('upgrade'))
}

/** The headers of a request without hop-by-hop headers, credentials and identities. */
export function forwardedHeaders({ headers }: ApiRequest, upgrade: boolean): Headers {
  const dropped = new Set([...hopByHop, ...localHeaders, ...connectionOptions(headers.connection)])
  const out: Headers = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || dropped.has(name) || name.startsWith(':')) continue
    // Only this server sets headers with the identity of the user.
    if (name.startsWith('x-remote-') || name.startsWith('impersonate-')) continue
    const forwarded = name === 'sec-websocket-protocol' ? removeTokenProtocols(value) : value
    if (forwarded !== undefined) out[name] = forwarded
  }
  if (upgrade) {
    out.connection = 'Upgrade'
    out.upgrade = headers.upgrade ?? ''
  }
  return out
}

/** `X-Forwarded-For`: the addresses of earlier proxies, followed by that of the client. */
export function forwardedFor({ headers, peer }: ApiRequest): Headers {
  if (peer.address === undefined) return {}
  return { 'x-forwarded-for': [headers['x-forwarded-for'] ?? [], peer.address].flat().join(', ') }
}

/** Names of the hop-by-hop headers that `Connection` lists. */
function connectionOptions(connection: string | readonly string[] | undefined): string[] {
  return [connection ?? []].flat().flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase()))
}

/** The body to forward. Where the adapter supports streaming, the body may have any length and is never buffered as a whole. */
export async function forwardedBody(request: ApiRequest, limitBytes: number): Promise<ProxiedRequest['body']> {
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

/** The response of another server without hop-by-hop and CORS headers. */
export function forwardedResponse(response: ApiResponse): ApiResponse {
  const dropped = new Set([...hopByHop, ...corsResponseHeaders, ...connectionOptions(response.headers.connection)])
  const headers: Headers = {}
  for (const [name, value] of Object.entries(response.headers)) if (!dropped.has(name)) headers[name] = value
  if (response.body.kind === 'connection') {
    headers.connection = 'Upgrade'
    if (response.headers.upgrade !== undefined) headers.upgrade = response.headers.upgrade
  }
  return { ...response, headers }
}

/** Discards a response body. */
export function cancelBody({ body }: ApiResponse): void {
  if (body.kind === 'connection') body.connection.destroy()
  if (body.kind !== 'stream') return
  body.stream[Symbol.asyncIterator]()
    .return?.(undefined)
    .catch(() => undefined)
}
