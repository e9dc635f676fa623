import type { ApiResponse, ProxiedRequest } from '@krmkit/protocol'
import { ServerPipe } from './server-pipe.ts'
import { SpdyConnection, type SpdyHandlers } from './spdy/connection.ts'
import { acceptKey, ServerWebSocket } from './web-socket.ts'

/** Protocol upgrades requested by clients, and the responses. */

const spdy = 'SPDY/3.1'

export type UpgradeOffer =
  | { readonly kind: 'webSocket'; readonly key: string; readonly protocols: readonly string[] }
  | { readonly kind: 'spdy'; readonly protocols: readonly string[] }

/** Returns the upgrade that the headers of a request offer; undefined for an unknown protocol. */
export function upgradeOffer(headers: ProxiedRequest['headers']): UpgradeOffer | undefined {
  const upgrade = listOf(headers['upgrade']).map((each) => each.toLowerCase())
  const [key] = valuesOf(headers['sec-websocket-key'])
  if (upgrade.includes('websocket') && key !== undefined) {
    return { kind: 'webSocket', key, protocols: listOf(headers['sec-websocket-protocol']) }
  }
  if (upgrade.includes(spdy.toLowerCase())) return { kind: 'spdy', protocols: listOf(headers['x-stream-protocol-version']) }
  return undefined
}

export function webSocketResponse(
  { key }: Extract<UpgradeOffer, { kind: 'webSocket' }>,
  protocol: string | undefined,
  { connection }: ServerWebSocket,
): ApiResponse {
  return {
    status: 101,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': acceptKey(key),
      ...(protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }),
    },
    body: { kind: 'connection', connection },
  }
}

/** Switches to SPDY; the signal ends the connection. */
export function spdyResponse(protocol: string, handlers: SpdyHandlers, signal: AbortSignal): ApiResponse {
  const pipe: ServerPipe = new ServerPipe({
    receive: (chunk) => streams.receive(chunk),
    whenTaken: (done) => streams.whenTaken(done),
    closed: () => streams.close(),
    overrun: () => streams.close(),
  })
  const streams = new SpdyConnection(pipe, handlers)
  signal.addEventListener('abort', () => streams.close(), { once: true })
  return {
    status: 101,
    headers: { upgrade: spdy, connection: 'Upgrade', 'x-stream-protocol-version': protocol },
    body: { kind: 'connection', connection: pipe.connection },
  }
}

/** Carries SPDY in the messages of a WebSocket, as kubectl does since 1.31. */
export function tunnelResponse(
  offer: Extract<UpgradeOffer, { kind: 'webSocket' }>,
  { protocol, handlers, signal }: { readonly protocol: string; readonly handlers: SpdyHandlers; readonly signal: AbortSignal },
): ApiResponse {
  const socket: ServerWebSocket = new ServerWebSocket({
    data: (part) => streams.receive(part),
    whenTaken: (done) => streams.whenTaken(done),
    closed: () => streams.close(),
  })
  const streams = new SpdyConnection(socket, handlers)
  signal.addEventListener('abort', () => streams.close(), { once: true })
  return webSocketResponse(offer, protocol, socket)
}

/** Rejects an upgrade, as kubelets do when no offered protocol is supported. */
export function upgradeRefused(offer: UpgradeOffer | undefined, accepted: readonly string[]): ApiResponse {
  const offered = offer?.protocols ?? []
  const message = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${accepted.join(' ')}]`
  return {
    status: offer?.kind === 'spdy' ? 403 : 400,
    headers: { 'content-type': 'text/plain', 'x-accepted-stream-protocol-versions': accepted },
    body: { kind: 'bytes', bytes: Buffer.from(message) },
  }
}

/** Returns the items of a comma-separated header. */
function listOf(header: string | readonly string[] | undefined): string[] {
  return valuesOf(header).flatMap((value) => value.split(',').map((each) => each.trim()))
}

function valuesOf(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return []
  return typeof header === 'string' ? [header] : header
}
