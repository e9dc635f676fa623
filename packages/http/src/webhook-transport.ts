import type { ClientRequest, IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type {
  ServiceAddress,
  WebhookRequest,
  WebhookResponse,
  WebhookSender,
  WebhookTarget,
  WebhookTransport,
} from '@krmkit/protocol'
import { connectionError } from './connection-error.ts'
import { createAgent, destinationOf, hostOf, isStaleConnection, validateTarget } from './outbound-agent.ts'

const maxAgents = 256

/**
 * Calls admission webhooks over HTTPS. Webhooks with the same host, authorities and client certificate share a connection pool. A request
 * on a reused connection that the server has just closed is sent again once.
 *
 * @example
 * import { createWebhookTransport } from '@krmkit/http'
 * using transport = createWebhookTransport()
 * const send = transport.open({ origin: 'https://hook.example.com' })
 * const request = { method: 'POST', path: '/validate', headers: { 'content-type': 'application/json' }, body: '{}' } as const
 * const { status } = await send({ ...request, signal: AbortSignal.timeout(10_000), limitBytes: 1_000_000 })
 */
export function createWebhookTransport(): WebhookTransport & Disposable {
  const agents = new Map<string, Agent>()
  const open = new Set<ClientRequest>()
  const agentOf = (target: WebhookTarget): Agent => {
    const { origin, ca, certificate, key, serverName } = target
    const name = JSON.stringify([origin, ca, certificate, key, serverName])
    let agent = agents.get(name)
    if (agent === undefined) {
      agent = createAgent(target)
      // Drops the oldest agent; its connections close when idle.
      const [oldest] = agents.keys()
      if (agents.size >= maxAgents && oldest !== undefined) agents.delete(oldest)
      agents.set(name, agent)
    }
    return agent
  }
  return {
    open(target): WebhookSender {
      validateTarget(target)
      const agent = agentOf(target)
      return async (request) => {
        const address = await target.resolve?.()
        for (let isRetry = false; ; isRetry = true) {
          const attempt = post(agent, target, request, { address, open })
          try {
            return await attempt.response
          } catch (error) {
            if (isRetry || request.signal.aborted || !isStaleConnection(attempt.outgoing, error))
              throw connectionError(error, destinationOf(target, address))
          }
        }
      }
    },
    [Symbol.dispose]() {
      for (const request of open) request.destroy()
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

function post(
  agent: Agent,
  target: WebhookTarget,
  { method, path, headers, body, signal, limitBytes }: WebhookRequest,
  { address, open }: { readonly address: ServiceAddress | undefined; readonly open: Set<ClientRequest> },
) {
  const { host, port, name } = destinationOf(target, address)
  const outgoing = httpsRequest({
    agent,
    method,
    host,
    port,
    path,
    signal,
    headers: {
      ...headers,
      host: hostOf(target.origin),
      ...(method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {}),
    },
    servername: isIP(name) === 0 ? name : '',
  })
  open.add(outgoing)
  outgoing.once('close', () => open.delete(outgoing))
  const response = new Promise<WebhookResponse>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => {
      readBody(incoming, limitBytes).then(
        (bytes) => resolve({ status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: bytes }),
        (error: unknown) => {
          outgoing.destroy()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
    outgoing.end(method === 'POST' ? body : undefined)
  })
  return { outgoing, response }
}

function headersOf({ headers }: IncomingMessage): WebhookResponse['headers'] {
  return { 'content-type': headers['content-type'], location: headers.location, 'retry-after': headers['retry-after'] }
}

async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of incoming as AsyncIterable<Uint8Array>) {
    length += part.byteLength
    if (length > limitBytes) throw new Error(`the response is longer than ${limitBytes} bytes`)
    parts.push(part)
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}
