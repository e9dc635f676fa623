/** Connections to the members of an etcd cluster. The only module that uses the gRPC library. */
import * as grpc from '@grpc/grpc-js'
import { deadlineExceeded, EtcdError, unavailableStatus, unknownStatus } from './etcd-error.ts'
import type { MessageType } from './wire.ts'

/** A stream of messages in both directions. */
export type MessageStream<Request extends object, Response extends object> = grpc.ClientDuplexStream<Partial<Request>, Response>

/** PEM texts for TLS. */
export interface EtcdTls {
  /** Authorities that certify the servers; absent: those of the system. */
  readonly ca?: string | Uint8Array
  /** Certificate that authenticates the client, with `key`. */
  readonly certificate?: string | Uint8Array
  readonly key?: string | Uint8Array
}

/** A unary method. */
export interface Method<Request extends object, Response extends object> {
  /** `/etcdserverpb.KV/Range` */
  readonly path: string
  readonly request: MessageType<Request>
  readonly response: MessageType<Response>
}

/** As the stock server's client: dead connections are found within 40 seconds, even without calls. */
const channelOptions: grpc.ChannelOptions = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // A request is never repeated behind the caller's back.
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
}

/** How long a call waits for a connection to one member before it tries the next one, where there are several. */
const nextMemberMs = 1000

export class Endpoints {
  readonly #clients: grpc.Client[]
  #current = 0

  /** @param urls `https://host:port`, `http://host:port`, `unix:///path` */
  constructor(urls: readonly string[], tls: EtcdTls | undefined) {
    if (urls.length === 0) throw new TypeError('etcd needs at least one endpoint')
    this.#clients = urls.map((url) => connect(url, tls))
  }

  /** Number of members. */
  get count(): number {
    return this.#clients.length
  }

  /** Calls a method of a connected member. @throws EtcdError; `unsent` when no member could be reached */
  async call<Request extends object, Response extends object>(
    method: Method<Request, Response>,
    request: Partial<Request>,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Response> {
    const deadline = Date.now() + timeoutMs
    const { client, at } = await this.#connected(deadline)
    try {
      return await unary(client, method, request, { deadline, signal })
    } catch (error) {
      if (error instanceof EtcdError && (error.status === unavailableStatus || error.status === deadlineExceeded)) this.#leave(at)
      throw error
    }
  }

  /** Opens a stream in both directions to a connected member. @throws EtcdError `unsent` */
  async stream<Request extends object, Response extends object>(
    method: Method<Request, Response>,
    timeoutMs: number,
  ): Promise<MessageStream<Request, Response>> {
    const { client, at } = await this.#connected(Date.now() + timeoutMs)
    const metadata = new grpc.Metadata()
    // The member ends the stream when it loses the leader, instead of falling behind silently.
    metadata.set('hasleader', 'true')
    const stream = client.makeBidiStreamRequest(
      method.path,
      (message: Partial<Request>) => method.request.encode(message),
      (bytes) => method.response.decode(bytes),
      metadata,
    )
    stream.on('error', () => this.#leave(at))
    return stream
  }

  /** Calls a method that streams its response. */
  async *download<Request extends object, Response extends object>(
    method: Method<Request, Response>,
    request: Partial<Request>,
    timeoutMs: number,
  ): AsyncGenerator<Response> {
    const { client } = await this.#connected(Date.now() + timeoutMs)
    const stream = client.makeServerStreamRequest(
      method.path,
      (message: Partial<Request>) => method.request.encode(message),
      (bytes) => method.response.decode(bytes),
      request,
    )
    try {
      for await (const response of stream) yield response as Response
    } catch (error) {
      throw failureOf(error)
    } finally {
      stream.cancel()
    }
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  /** Later calls go to the next member. */
  #leave(at: number): void {
    if (this.#current === at) this.#current = (at + 1) % this.#clients.length
  }

  /** The member in use, once it is connected; else the next one that is. */
  async #connected(deadline: number): Promise<{ client: grpc.Client; at: number }> {
    for (;;) {
      const at = this.#current
      const client = this.#clients[at]!
      const state = client.getChannel().getConnectivityState(true)
      if (state === grpc.connectivityState.READY) return { client, at }
      const patience = this.count === 1 ? deadline : Math.min(deadline, Date.now() + nextMemberMs)
      if (await isReady(client, patience)) return { client, at }
      this.#leave(at)
      if (Date.now() >= deadline) {
        throw new EtcdError({ status: unavailableStatus, message: 'no member of etcd can be reached', unsent: true })
      }
    }
  }
}

function connect(url: string, tls: EtcdTls | undefined): grpc.Client {
  if (url.startsWith('unix:')) return new grpc.Client(url, grpc.credentials.createInsecure(), channelOptions)
  const { protocol, host } = new URL(url.includes('://') ? url : `${tls === undefined ? 'http' : 'https'}://${url}`)
  if (protocol === 'http:') return new grpc.Client(host, grpc.credentials.createInsecure(), channelOptions)
  if (protocol !== 'https:') throw new TypeError(`unknown scheme of the etcd endpoint ${url}`)
  const credentials = grpc.credentials.createSsl(pem(tls?.ca), pem(tls?.key), pem(tls?.certificate))
  return new grpc.Client(host, credentials, channelOptions)
}

function pem(text: string | Uint8Array | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text)
}

function isReady(client: grpc.Client, deadline: number): Promise<boolean> {
  return new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(error === undefined)))
}

function unary<Request extends object, Response extends object>(
  client: grpc.Client,
  method: Method<Request, Response>,
  request: Partial<Request>,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal | undefined },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onAbort = () => call.cancel()
    const call = client.makeUnaryRequest(
      method.path,
      (message: Partial<Request>) => method.request.encode(message),
      (bytes) => method.response.decode(bytes),
      request,
      { deadline },
      (error, response) => {
        signal?.removeEventListener('abort', onAbort)
        if (error !== null) reject(failureOf(error))
        else if (response === undefined) reject(new EtcdError({ status: unknownStatus, message: 'etcd sent no response' }))
        else resolve(response)
      },
    )
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
  })
}

/** The failure of a call or stream as an EtcdError. */
export function failureOf(error: unknown): EtcdError {
  if (error instanceof EtcdError) return error
  const { code, details } = error as Partial<grpc.ServiceError>
  const message = details ?? (error instanceof Error ? error.message : String(error))
  return new EtcdError({ status: code ?? unknownStatus, message, cause: error })
}
