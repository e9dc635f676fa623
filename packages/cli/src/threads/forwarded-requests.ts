import { base64Bytes, base64Text, utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import type { ApiRequest, ApiResponse, ProxiedRequest, ProxyConnection } from '@krmkit/protocol'
import type { Storage } from '@krmkit/storage'

/** Requests that a worker leaves to the writer, because they depend on state that is not in the storage. */

export interface ForwardingRules {
  readonly storage: Pick<Storage, 'count'>
  /** The writer simulates nodes, so it alone reaches their pods. */
  readonly simulatesNodes: boolean
}

/** Carries the client of a forwarded request and its headers. Only the writer's private socket accepts it. */
const originHeader = 'x-krmkit-origin'

/** Collections whose writes depend on all others: allocated addresses and ports, and quotas. */
const sharedCollections = new Set([
  '/services',
  '/resourcequotas',
  'networking.k8s.io/ipaddresses',
  'networking.k8s.io/servicecidrs',
])
const streamingSubresources = new Set(['exec', 'attach', 'portforward', 'log', 'proxy'])
const readMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether the writer must handle a request. */
export function isForwarded({ method, path }: Pick<ApiRequest, 'method' | 'path'>, rules: ForwardingRules): boolean {
  if (path === '/metrics') return true
  const target = targetOf(path)
  if (target === undefined) return false
  const { group, namespace, resource, subresource } = target
  if (streamingSubresources.has(subresource)) return rules.simulatesNodes
  if (readMethods.has(method)) return false
  if (sharedCollections.has(`${group}/${resource}`)) return true
  return namespace !== '' && rules.storage.count(`/core/resourcequotas/${namespace}/`) > 0
}

interface Target {
  readonly group: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
}

/** What a path names; undefined for paths of no resource. */
function targetOf(path: string): Target | undefined {
  const segments = path.split('/').slice(1).map(decoded)
  const isCore = segments[0] === 'api'
  if (!isCore && segments[0] !== 'apis') return undefined
  const group = isCore ? '' : (segments[1] ?? '')
  const rest = segments.slice(isCore ? 2 : 3)
  const [first = '', namespace = ''] = rest
  if (first !== 'namespaces' || rest.length < 3) return { group, namespace: '', resource: first, subresource: rest[2] ?? '' }
  return { group, namespace: storable(namespace), resource: rest[2] ?? '', subresource: rest[4] ?? '' }
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    // The server refuses the path.
    return segment
  }
}

/** Other names have no objects, and might be no part of a key. */
function storable(namespace: string): string {
  return /^[a-z0-9-]{1,63}$/.test(namespace) ? namespace : ''
}

/** Sends a request to the writer and returns its response. Rejects with an Error that states why there is none. */
export async function forwardRequest(request: ApiRequest, writer: ProxyConnection): Promise<ApiResponse> {
  const { method, path, query, signal } = request
  const isUpgrade = request.upgradable === true && request.headers.upgrade !== undefined
  const body = isUpgrade ? undefined : await forwardedBody(request)
  const response = await writer.send({
    ...{ method, signal, upgrade: isUpgrade },
    path: query === '' ? path : `${path}?${query}`,
    headers: { ...(isUpgrade ? upgradeHeaders(request) : {}), [originHeader]: originText(request) },
    ...(body === undefined ? {} : { body }),
  })
  const headers = { ...response.headers }
  // They belong to the connection between worker and writer.
  for (const name of ['keep-alive', 'transfer-encoding', ...(isUpgrade ? [] : ['connection'])]) delete headers[name]
  return { ...response, headers }
}

/**
 * A body that is still arriving is streamed without the length that the client states: the writer decides before reading it whether it
 * reads it, and limits its size and rate, as a server of one process does.
 */
async function forwardedBody(request: ApiRequest): Promise<ProxiedRequest['body']> {
  if (request.isBodyReceived !== true && request.stream !== undefined) return request.stream()
  const body = await request.body(maxBodyBytes)
  return body.byteLength === 0 ? undefined : body
}

/** The writer has the same limit. */
const maxBodyBytes = 3 * 1024 * 1024

/** The handshake of the connection between worker and writer. */
function upgradeHeaders({ headers }: ApiRequest): Record<string, string | readonly string[]> {
  const sent = ['connection', 'upgrade', 'sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol']
  return Object.fromEntries(sent.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}

/** What the writer must know exactly: a header field of HTTP/1.1 cannot carry every value that a client may send. */
interface Origin {
  readonly address?: string
  /** DER as base64. */
  readonly certificates: readonly string[]
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

function originText({ headers, peer: { address, certificates = [] } }: ApiRequest): string {
  // The worker compresses for the client.
  const { 'accept-encoding': _, ...kept } = headers
  const origin: Origin = {
    ...(address === undefined ? {} : { address }),
    certificates: certificates.map((each) => base64Text(each)),
    headers: kept,
  }
  return base64Text(utf8Bytes(JSON.stringify(origin)))
}

/** A forwarded request as the worker received it. For requests of the private socket only. */
export function receivedRequest(request: ApiRequest): ApiRequest {
  const text = request.headers[originHeader]
  if (typeof text !== 'string') return request
  const { address, certificates, headers } = JSON.parse(utf8Text(base64Bytes(text))) as Origin
  const peer = {
    ...(address === undefined ? {} : { address }),
    certificates: certificates.map((each) => new Uint8Array(base64Bytes(each))),
  }
  // Not a copy of all members: requests of sockets are instances of a class.
  const { method, path, query, upgradable, signal } = request
  return { method, path, query, headers, upgradable, peer, signal, body: (limitBytes) => request.body(limitBytes) }
}
