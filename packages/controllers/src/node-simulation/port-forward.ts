import { Duplex } from 'node:stream'
import type { ApiResponse, ProxiedRequest } from '@krmkit/protocol'
import type { ContainerRun } from './container-run.ts'
import { InputQueue, Intake } from './intake.ts'
import type { PortForwardContext } from './interfaces.ts'
import { containerContext } from './log.ts'
import type { ReadonlyPod } from './objects.ts'
import type { PodRuntime } from './pod-runtime.ts'
import type { SpdyHandlers, SpdyStream } from './spdy/connection.ts'
import { spdyResponse, tunnelResponse, type UpgradeOffer, upgradeOffer, upgradeRefused, webSocketResponse } from './upgrade.ts'
import { ServerWebSocket } from './web-socket.ts'
import { byChannel } from './web-socket-reader.ts'

/** `port-forward`: over SPDY, over SPDY in a WebSocket, and over the channels of a WebSocket. */

const protocol = 'portforward.k8s.io'
const tunnelProtocol = `SPDY/3.1+${protocol}`
const channelProtocol = 'v4.channel.k8s.io'
const maxPort = 65_535

export interface PortForwardTarget {
  readonly pod: ReadonlyPod
  readonly runtime: PodRuntime
  readonly nowMs: number
  readonly searchParams: URLSearchParams
}

/** Upgrades the connection and connects each pair of streams to a port of the pod. */
export function openPortForward({ headers, signal }: ProxiedRequest, target: PortForwardTarget): ApiResponse {
  const offer = upgradeOffer(headers)
  const offered = offer?.protocols ?? []
  if (offer?.kind === 'spdy' && offered.includes(protocol)) return spdyResponse(protocol, new StreamPairs(target), signal)
  if (offer?.kind === 'webSocket') {
    if (offered.includes(tunnelProtocol))
      return tunnelResponse(offer, { protocol: tunnelProtocol, handlers: new StreamPairs(target), signal })
    if (offered.length === 0 || offered.includes(channelProtocol)) return openChannels(offer, target, signal)
  }
  return upgradeRefused(offer, [protocol, tunnelProtocol, channelProtocol])
}

/** The streams of a client: a data stream and an error stream form one forwarded connection. */
class StreamPairs implements SpdyHandlers {
  readonly #target: PortForwardTarget
  readonly #waiting = new Map<string, SpdyStream>()

  constructor(target: PortForwardTarget) {
    this.#target = target
  }

  accept(stream: SpdyStream): (() => void) | undefined {
    const port = Number(stream.headers.get('port'))
    const type = stream.headers.get('streamtype')
    if (!isPort(port) || (type !== 'data' && type !== 'error')) return undefined
    if (type === 'error') stream.resume()
    const request = stream.headers.get('requestid') ?? String(type === 'error' ? stream.id : stream.id - 2)
    const other = this.#waiting.get(request)
    if (other?.headers.get('streamtype') === type) return undefined
    if (other === undefined) {
      this.#waiting.set(request, stream)
      stream.once('close', () => this.#waiting.get(request) === stream && this.#waiting.delete(request))
      return () => undefined
    }
    this.#waiting.delete(request)
    const [data, errors] = type === 'data' ? [stream, other] : [other, stream]
    return () => void connect(this.#target, { port, data, fail: (message) => errors.end(message), ended: () => errors.end() })
  }

  closed(): void {
    this.#waiting.clear()
  }
}

/** A connection to a port of the pod. */
interface Forwarded {
  readonly port: number
  readonly data: Duplex
  fail(message: string): void
  /** Called when both sides of `data` have ended. */
  ended(): void
}

/** Hands the connection to the container that serves the port. */
async function connect(target: PortForwardTarget, { port, data, fail, ended }: Forwarded): Promise<void> {
  const { pod, nowMs } = target
  data.once('close', ended)
  // Data that the client sends after the container has closed is discarded.
  data.once('finish', () => data.resume())
  const stopping = new AbortController()
  data.once('close', () => stopping.abort())
  try {
    const run = servingRun(target, port)
    const context: PortForwardContext = {
      ...containerContext(pod, run, nowMs),
      port,
      connection: data,
      signal: stopping.signal,
    }
    await run.behavior.portForward?.(context)
  } catch (error) {
    const { name = '', uid = '' } = pod.metadata
    const why = error instanceof Error ? error.message : String(error)
    fail(`error forwarding port ${port} to pod ${name}, uid ${uid}: ${why}`)
    data.destroy(new Error(why))
  }
}

/**
 * Returns the running container with a handler: the one that declares the port, or else the first. @throws Error when none
 * has one
 */
function servingRun({ pod, runtime }: PortForwardTarget, port: number): ContainerRun {
  const able = runtime.all.filter((run) => run.isRunning && run.behavior.portForward !== undefined)
  const specs = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
  const declaring = specs.filter(({ ports = [] }) => ports.some(({ containerPort }) => containerPort === port))
  const found = able.find(({ name }) => declaring.some((each) => each.name === name)) ?? able[0]
  if (found === undefined) throw new Error(`failed to connect to localhost:${port}: connect: connection refused`)
  return found
}

/** Each port has two channels, for data and for errors; the first message on each is the port number. */
function openChannels(
  offer: Extract<UpgradeOffer, { kind: 'webSocket' }>,
  target: PortForwardTarget,
  signal: AbortSignal,
): ApiResponse {
  const ports = target.searchParams.getAll('port').flatMap((value) => value.split(',').map(Number))
  if (ports.length === 0 || !ports.every(isPort)) {
    const bytes = Buffer.from('query parameter "port" is required')
    return { status: 400, headers: { 'content-type': 'text/plain' }, body: { kind: 'bytes', bytes } }
  }
  const streams: Duplex[] = []
  const intake = new Intake()
  const inputs = ports.map(() => new InputQueue(intake))
  const socket = new ServerWebSocket({
    data: byChannel((channel, data) => {
      if (channel % 2 === 0) inputs[channel / 2]?.push(data)
    }),
    whenTaken: (done) => intake.whenTaken(done),
    closed() {
      for (const stream of streams) stream.destroy()
    },
  })
  signal.addEventListener('abort', () => socket.close(), { once: true })
  const send = (channel: number, data: Uint8Array) => socket.send(Buffer.concat([Buffer.from([channel]), data]))
  let open = ports.length
  for (const [i, port] of ports.entries()) {
    const number = Buffer.from([port & 0xff, port >> 8])
    send(2 * i, number)
    send(2 * i + 1, number)
    const data = channelStream(inputs[i]!, { socket, send: (chunk) => send(2 * i, chunk) })
    streams.push(data)
    const fail = (message: string) => send(2 * i + 1, Buffer.from(message))
    const ended = () => {
      open--
      if (open === 0) socket.close()
    }
    void connect(target, { port, data, fail, ended })
  }
  return webSocketResponse(offer, offer.protocols.includes(channelProtocol) ? channelProtocol : undefined, socket)
}

/** The protocol cannot half-close a channel, so the stream closes when the container ends it. */
function channelStream(
  input: InputQueue,
  { socket, send }: { readonly socket: ServerWebSocket; readonly send: (chunk: Buffer) => void },
): Duplex {
  const stream: Duplex = new Duplex({
    readableHighWaterMark: 1,
    read: () => input.pull((bytes) => stream.push(bytes)),
    write(chunk: Buffer, _encoding, done) {
      send(chunk)
      socket.whenDrained(done)
    },
    final(done) {
      input.end()
      done()
    },
    destroy(error, done) {
      input.discard()
      done(error)
    },
  })
  stream.on('error', () => undefined)
  return stream
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port <= maxPort
}
