import type { ClientRequest, IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiResponse, ProxiedRequest, ProxyTarget, ProxyTransport } from '@krmkit/protocol'
import { connectionFailure } from './connection-failure.ts'
import { sentText, wireText } from './header-text.ts'
import { type Address, checkTarget, hostOf, newAgent } from './webhook-transport.ts'

/**
 * Passes requests on to other servers over HTTPS, bodies and answers as streams: a watch goes on as long as both ends want it, and a
 * reader that is slow slows the other server. Connections are kept and shared by all requests to one target.
 */
export function proxyTransport(): ProxyTransport & Disposable {
  const agents = new Set<Agent>()
  const open = new Set<ClientRequest>()
  const connections = new Set<Duplex>()
  return {
    open(target) {
      checkTarget(target)
      const agent = newAgent(target)
      agents.add(agent)
      return {
        async send(request) {
          const address = request.address ?? (await target.resolve?.())
          for (let again = false; ; again = true) {
            const attempt = start(agent, target, request, { address, open })
            try {
              const answer = await attempt.answer
              if (answer.body.kind === 'connection') keep(connections, answer.body.connection)
              return answer
            } catch (error) {
              if (again || request.signal.aborted || !attempt.mayTryAgain(error))
                throw failed(error, target, { request, address })
            }
          }
        },
        close() {
          agents.delete(agent)
          for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy()
        },
      }
    },
    [Symbol.dispose]() {
      for (const request of open) request.destroy()
      for (const connection of connections) connection.destroy()
      for (const agent of agents) agent.destroy()
      agents.clear()
    },
  }
}

function keep(connections: Set<Duplex>, connection: Duplex): void {
  connections.add(connection)
  connection.once('close', () => connections.delete(connection))
}

interface Attempt {
  readonly answer: Promise<ApiResponse>
  /** It failed on a connection that the other side had given up meanwhile. */
  mayTryAgain(error: unknown): boolean
}

function start(
  agent: Agent,
  target: ProxyTarget,
  request: ProxiedRequest,
  { address, open }: { readonly address: Address | undefined; readonly open: Set<ClientRequest> },
): Attempt {
  const { host, port, name } = hostOf(target, address)
  const { body } = request
  const outgoing = httpsRequest({
    agent,
    method: request.method,
    host,
    port,
    path: wireText(request.path),
    signal: request.signal,
    headers: headersFor(request, new URL(target.origin).host),
    servername: isIP(name) === 0 ? name : '',
  })
  open.add(outgoing)
  outgoing.once('close', () => open.delete(outgoing))
  const answer = new Promise<ApiResponse>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => resolve(answered(incoming, outgoing)))
    outgoing.once('upgrade', (incoming, connection: Duplex, head) => {
      if (head.length > 0) connection.unshift(head)
      resolve({ ...headOf(incoming), body: { kind: 'connection', connection } })
    })
    if (body === undefined || body instanceof Uint8Array) outgoing.end(body)
    else pipeline(Readable.from(body, { objectMode: false }), outgoing).catch(reject)
  })
  const mayTryAgain = (error: unknown) =>
    body === undefined && outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
  return { answer, mayTryAgain }
}

/** `host` is where it goes unless a header says otherwise. A body of unknown length travels in chunks, which node sees to. */
function headersFor({ body, headers }: ProxiedRequest, host: string): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = { host }
  for (const [name, value] of Object.entries(headers)) {
    out[name] = typeof value === 'string' ? wireText(value) : value.map(wireText)
  }
  if (body instanceof Uint8Array) out['content-length'] = String(body.byteLength)
  return out
}

function answered(incoming: IncomingMessage, outgoing: ClientRequest): ApiResponse {
  return { ...headOf(incoming), body: { kind: 'stream', stream: pieces(incoming, outgoing) } }
}

function headOf(incoming: IncomingMessage): Pick<ApiResponse, 'status' | 'headers'> {
  return { status: incoming.statusCode ?? 502, headers: headersOf(incoming.headersDistinct) }
}

/** Leaving ends the request at once, also while nothing comes: no generator, which would wait for the next piece first. */
function pieces(incoming: IncomingMessage, outgoing: ClientRequest): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = (incoming as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      return {
        next: () => iterator.next(),
        async return() {
          if (!incoming.complete) outgoing.destroy()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function headersOf(headers: IncomingMessage['headersDistinct']): Record<string, string | readonly string[]> {
  const out: Record<string, string | readonly string[]> = {}
  for (const [name, values] of Object.entries(headers)) {
    if (values === undefined) continue
    const texts = values.map(sentText)
    out[name] = texts.length === 1 ? (texts[0] as string) : texts
  }
  return out
}

/** An abort tells its own reason; of other failures it is told where the connection was to lead. */
function failed(
  error: unknown,
  target: ProxyTarget,
  { request, address }: { readonly request: ProxiedRequest; readonly address: Address | undefined },
): Error {
  const { signal } = request
  if (signal.aborted && signal.reason instanceof Error && signal.reason.name !== 'AbortError') return signal.reason
  if (signal.aborted) return new Error('context canceled')
  return connectionFailure(error, hostOf(target, address))
}
