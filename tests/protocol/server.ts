import { type ApiServerOptions, createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { builtInTypes } from '@krmkit/kinds'
import { ApiError, type FakeClock, fakeClock, seededRandom, type UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { memoryStorage, type Storage, type StorageOptions } from '@krmkit/storage'

/**
 * Requests to a server in this process, without a socket, with the values that an adapter would pass. The clock stands still
 * unless a test advances it.
 */

/** Members of a response that tests read, of any kind; missing ones are undefined. */
export interface Doc {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: DocMeta
  readonly items: readonly Doc[]
  readonly data: Readonly<Record<string, string>>
  readonly spec: Readonly<Record<string, unknown>>
  /** A string in a Status, an object elsewhere. */
  readonly status: unknown
  readonly code: number
  readonly reason: string
  readonly message: string
  readonly details: {
    readonly kind: string
    readonly retryAfterSeconds: number
    readonly causes: readonly { readonly reason: string; readonly field: string; readonly message: string }[]
  }
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Doc }[]
  readonly [member: string]: unknown
}

interface DocMeta {
  readonly name: string
  readonly generateName: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
  readonly deletionTimestamp: string
  readonly deletionGracePeriodSeconds: number
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly finalizers: readonly string[]
  readonly managedFields: readonly { readonly manager: string; readonly operation: string }[]
  readonly continue: string
  readonly remainingItemCount: number
  readonly [member: string]: unknown
}

/** One event of a watch. */
export interface WatchEvent {
  readonly type: string
  readonly object: Doc
}

export interface SendOptions {
  readonly query?: Readonly<Record<string, string>> | string
  readonly headers?: Readonly<Record<string, string>>
  /** Objects are sent as JSON, strings and bytes unchanged. */
  readonly body?: object | string | Uint8Array
  readonly user?: UserInfo
  readonly signal?: AbortSignal
}

/** A complete response. */
export interface Answer {
  readonly status: number
  readonly headers: ApiResponse['headers']
  readonly bytes: Uint8Array
  readonly text: string
  /** The body, if it is JSON. */
  readonly json: Doc
  /** Texts of the Warning headers. */
  readonly warnings: readonly string[]
}

export interface TestApi extends AsyncDisposable {
  readonly server: EmbeddedServer
  readonly storage: Storage
  readonly clock: FakeClock
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  get(path: string, query?: SendOptions['query'], headers?: SendOptions['headers']): Promise<Answer>
  post(path: string, body: object, options?: SendOptions): Promise<Answer>
  put(path: string, body: object, options?: SendOptions): Promise<Answer>
  /** A merge patch. */
  patch(path: string, body: object, options?: SendOptions): Promise<Answer>
  delete(path: string, options?: SendOptions): Promise<Answer>
  watch(path: string, query?: SendOptions['query'], headers?: SendOptions['headers']): Promise<WatchStream>
  close(): Promise<void>
}

export type StartOptions = Partial<ApiServerOptions> & { readonly history?: Omit<StorageOptions, 'clock'> }

export const administrator: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

/** The stock types are parsed once for all servers of a file. */
const types = builtInTypes()

/** Start of the fake time: a full second. */
export const startMs = Date.UTC(2024, 0, 1)

export async function startApi({ history, ...options }: StartOptions = {}): Promise<TestApi> {
  const clock = fakeClock(startMs)
  const storage = options.storage ?? memoryStorage({ ...history, clock })
  const server = await createApiServer({
    clock,
    random: seededRandom(1),
    ...(options.profile === undefined ? { types } : {}),
    ...options,
    storage,
  })
  return apiOver(server, { clock, storage })
}

function apiOver(server: EmbeddedServer, { clock, storage }: { clock: FakeClock; storage: Storage }): TestApi {
  const call: TestApi['send'] = (method, path, options) => send(server.handle, method, path, options)
  const close = () => server.close()
  return {
    server,
    storage,
    clock,
    send: call,
    get: (path, query = {}, headers = {}) => call('GET', path, { query, headers }),
    post: (path, body, options = {}) => call('POST', path, { ...options, body }),
    put: (path, body, options = {}) => call('PUT', path, { ...options, body }),
    patch: (path, body, options = {}) =>
      call('PATCH', path, { ...options, body, headers: { 'content-type': 'application/merge-patch+json', ...options.headers } }),
    delete: (path, options = {}) => call('DELETE', path, options),
    watch: (path, query = {}, headers = {}) => watch(server.handle, path, { query, headers }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Sends one request and reads the complete response. */
export async function send(handle: Handler, method: string, path: string, options: SendOptions = {}): Promise<Answer> {
  const response = await handle(requestOf(method, path, options))
  const { body } = response
  const parts: Uint8Array[] = []
  if (body.kind === 'bytes') parts.push(body.bytes)
  else if (body.kind === 'list') parts.push(...body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes())))
  else if (body.kind === 'stream') for await (const part of body.stream) parts.push(part)
  const bytes = Buffer.concat(parts)
  const text = bytes.toString()
  const { 'content-type': type = '', warning = [] } = response.headers
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text,
    json: (String(type).startsWith('application/json') ? JSON.parse(text) : undefined) as Doc,
    warnings: (typeof warning === 'string' ? [warning] : warning).map(
      (value) => JSON.parse(value.replace(/^299 - /, '')) as string,
    ),
  }
}

export function requestOf(
  method: string,
  path: string,
  { query = '', headers = {}, body, user, signal }: SendOptions,
): ApiRequest {
  const bytes =
    body instanceof Uint8Array
      ? body
      : new TextEncoder().encode(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body))
  return {
    method,
    path,
    query: typeof query === 'string' ? query : String(new URLSearchParams(query)),
    headers,
    body: async (limitBytes) => {
      if (bytes.byteLength > limitBytes) throw ApiError.requestEntityTooLarge(`limit is ${limitBytes}`)
      return bytes
    },
    peer: {},
    signal: signal ?? new AbortController().signal,
    user: user ?? administrator,
  }
}

/** Opens a watch. */
export async function watch(handle: Handler, path: string, { query = {}, headers = {} }: SendOptions = {}): Promise<WatchStream> {
  const gone = new AbortController()
  const parameters = typeof query === 'string' ? query : { watch: '1', ...query }
  const response = await handle(requestOf('GET', path, { query: parameters, headers, signal: gone.signal }))
  if (response.body.kind !== 'stream') throw new Error(`no stream: ${response.status}`)
  return new WatchStream(response, response.body.stream, gone)
}

/** An open watch whose events are read one by one. A chunk of the stream may contain several. */
export class WatchStream {
  readonly response: ApiResponse
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #gone: AbortController
  readonly #waiting: WatchEvent[] = []
  #pending: Promise<IteratorResult<Uint8Array>> | undefined

  constructor(response: ApiResponse, stream: AsyncIterable<Uint8Array>, gone: AbortController) {
    this.response = response
    this.#pieces = stream[Symbol.asyncIterator]()
    this.#gone = gone
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<WatchEvent | undefined> {
    while (this.#waiting.length === 0) {
      const piece = await this.raw()
      if (piece === undefined) return undefined
      for (const line of Buffer.from(piece).toString().split('\n'))
        if (line !== '') this.#waiting.push(JSON.parse(line) as WatchEvent)
    }
    return this.#waiting.shift()
  }

  /** The next chunk of the stream; undefined at its end. */
  async raw(): Promise<Uint8Array | undefined> {
    const pending = this.#pending ?? this.#pieces.next()
    this.#pending = undefined
    const { value, done } = await pending
    return done === true ? undefined : (value as Uint8Array)
  }

  /** Starts to read, so that the following events are observed. */
  async listen(): Promise<this> {
    this.#pending ??= this.#pieces.next()
    await settled()
    return this
  }

  /** The given number of events. */
  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = []
    while (events.length < count) {
      const event = await this.next()
      if (event === undefined) break
      events.push(event)
    }
    return events
  }

  /** All events up to the end of the stream. */
  rest(): Promise<WatchEvent[]> {
    return this.take(Number.POSITIVE_INFINITY)
  }

  /** All events so far; then disconnects. */
  async leaveAfter(): Promise<WatchEvent[]> {
    const events: WatchEvent[] = []
    for (;;) {
      this.#pending ??= this.#pieces.next()
      const piece = await Promise.race([this.#pending, settled().then(() => undefined)])
      if (piece === undefined || piece.done === true) break
      const event = await this.next()
      if (event === undefined) break
      events.push(event, ...this.#waiting.splice(0))
    }
    return [...events, ...(await this.leave())]
  }

  /** Disconnects. @returns the pending data, if it is JSON */
  async leave(): Promise<WatchEvent[]> {
    this.#gone.abort()
    if (this.response.headers['content-type'] === 'application/json') return this.rest()
    while ((await this.raw()) !== undefined);
    return []
  }
}

/** Runs all pending work that needs no time. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** `ADDED a`, `DELETED b`, ... */
export function eventsOf(events: readonly WatchEvent[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name ?? object.metadata.resourceVersion}`)
}

export const names = (list: Doc): string[] => list.items.map((item) => item.metadata.name)

export function configMap(name: string, rest: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest }
}

export const configMaps = '/api/v1/namespaces/default/configmaps'
export const asTable = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
export const asPartial = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }
export const asPartialList = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }
export const protobuf = 'application/vnd.kubernetes.protobuf'
