import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { ApiResponse, ProxiedRequest, ProxyTarget, ProxyTransport } from '@krmkit/apiserver'
import { connectionFailure } from './connection-failure.ts'
import { type Address, checkTarget, hostOf, newAgent } from './webhook-transport.ts'

/**
 * Passes requests on to other servers over HTTPS, answers as streams: a watch goes on as long as both ends want it. Connections are
 * kept and shared by all requests to one target.
 */
export function proxyTransport(): ProxyTransport & Disposable {
  const agents = new Set<Agent>()
  const open = new Set<ClientRequest>()
  return {
    open(target) {
      checkTarget(target)
      const agent = newAgent(target)
      agents.add(agent)
      return async (request) => {
        const address = await target.resolve?.()
        try {
          return await send(agent, target, request, { address, open })
        } catch (error) {
          throw connectionFailure(error, hostOf(target, address))
        }
      }
    },
    [Symbol.dispose]() {
      for (const request of open) request.destroy()
      for (const agent of agents) agent.destroy()
      agents.clear()
    },
  }
}

function send(
  agent: Agent,
  target: ProxyTarget,
  { method, path, headers, body, signal }: ProxiedRequest,
  { address, open }: { readonly address: Address | undefined; readonly open: Set<ClientRequest> },
): Promise<ApiResponse> {
  const { host, port, name } = hostOf(target, address)
  const outgoing = httpsRequest({
    agent,
    method,
    host,
    port,
    path,
    signal,
    headers: {
      ...(headers as Record<string, string | string[]>),
      host: new URL(target.origin).host,
      ...(body.byteLength > 0 ? { 'content-length': body.byteLength } : {}),
    },
    servername: isIP(name) === 0 ? name : '',
  })
  open.add(outgoing)
  outgoing.once('close', () => open.delete(outgoing))
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => {
      resolve({
        status: incoming.statusCode ?? 502,
        headers: headersOf(incoming.headers),
        body: { kind: 'stream', stream: pieces(incoming, outgoing) },
      })
    })
    outgoing.end(body.byteLength > 0 ? body : undefined)
  })
}

/** Leaving the loop ends the request. */
async function* pieces(incoming: IncomingMessage, outgoing: ClientRequest): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of incoming as AsyncIterable<Uint8Array>) yield piece
  } finally {
    if (!incoming.complete) outgoing.destroy()
  }
}

function headersOf(headers: IncomingHttpHeaders): Record<string, string | readonly string[]> {
  const out: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) out[name] = value
  return out
}
