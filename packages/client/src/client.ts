import { utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import { createTurns } from '@krmkit/base/work'
import { type ApiObject, type Clock, type ObjectMeta, type Random, type Status, systemClock, systemRandom } from '@krmkit/meta'
import type { Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { type BodyCodec, encodeBody, jsonCodec, jsonMediaType } from './body-codec.ts'
import { checkApply, checkName, checkObject, checkOptions, checkPatch, checkRequest, invalidRequest } from './call-arguments.ts'
import { ClientError } from './client-error.ts'
import { type ClientOptions, checkClientOptions, checkFunctions } from './client-options.ts'
import { HttpSender } from './http-sender.ts'
import type {
  Applied,
  ApplyOptions,
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  Draft,
  GetOptions,
  ListOptions,
  ObjectList,
  ObjectOptions,
  PatchOptions,
  RawRequest,
  RawResponse,
  ResourceRef,
  ResourceType,
  SelectOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './interfaces.ts'
import { createProtobufCodec } from './protobuf-codec.ts'
import { deleteBody, impersonationHeaders, listQuery, signalOf, watchQuery, writeQuery } from './request-options.ts'
import { apiVersionOf, pathOf, queryOf, typeOf } from './resource.ts'
import { contentTypeOf, isStatus, parseJson, readBytes } from './response.ts'
import { eventsOf, sharedEventsOf, watchCollection } from './watch.ts'

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const
const applyPatch = 'application/apply-patch+yaml'
const pageSize = 500

/**
 * Creates a client over a transport.
 *
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { createClient, createInProcessTransport } from '@krmkit/client'
 * import { memoryStorage } from '@krmkit/storage'
 * const server = await createApiServer({ storage: memoryStorage() })
 * const client = createClient(createInProcessTransport(server.handle), { namespace: 'shop' })
 * client.namespace // 'shop'
 * @throws ClientError `InvalidRequest` for invalid arguments
 * @see createInProcessClient, createRemoteClient
 */
export function createClient(transport: Transport, options: ClientOptions = {}): Client {
  checkClientOptions(options, { what: 'createClient', kinds: {}, example: '{ namespace: "default" }' })
  return clientOver(transport, options)
}

/** Creates a client from checked options. @throws ClientError `InvalidRequest` */
export function clientOver(transport: Transport, options: ClientOptions): Client {
  checkFunctions(transport, ['send', 'close'], 'a client needs a transport, such as createRemoteTransport({ server })')
  return new TransportClient(transport, options)
}

class TransportClient implements Client {
  readonly namespace: string
  readonly #sender: HttpSender
  /** Yields to the event loop between the pages of a long list. */
  readonly #pages = createTurns()
  readonly #clock: Clock
  readonly #random: Pick<Random, 'bytes'>
  readonly #codec: BodyCodec
  readonly #watchTimeoutMs: number | undefined
  readonly #closing = new AbortController()

  constructor(transport: Transport, options: ClientOptions) {
    this.#watchTimeoutMs = options.watchTimeoutMs
    this.namespace = options.namespace ?? 'default'
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#codec = options.protobuf === undefined ? jsonCodec : createProtobufCodec(options.protobuf)
    this.#sender = new HttpSender(transport, {
      clock: this.#clock,
      headers: {
        accept: jsonMediaType,
        'user-agent': options.userAgent ?? 'krmkit',
        ...impersonationHeaders(options.impersonate),
        ...options.headers,
      },
      codec: this.#codec,
      maxRetries: options.maxRetries ?? 10,
      onWarning: options.onWarning,
    })
  }

  async get<T extends ApiObject>(resource: ResourceRef<T>, name: string, options: GetOptions = {}): Promise<T> {
    const type = typeOf(resource)
    checkName('get', name)
    checkOptions('get', options)
    const query = queryOf({ resourceVersion: options.resourceVersion })
    return this.#object(type, { method: 'GET', path: this.#path(type, { ...options, name }), query, ...signalOf(options) })
  }

  async list<T extends ApiObject>(resource: ResourceRef<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const type = typeOf(resource)
    checkOptions('list', options)
    const path = pathOf(type, { namespace: options.namespace ?? '' })
    const request = { method: 'GET', path, query: listQuery(options), ...signalOf(options) }
    const list: ObjectList<T> = listOf(type, await this.#value(type, request))
    requireVersion(list, options)
    return list
  }

  async *listPages<T extends ApiObject>(
    resource: ResourceRef<T>,
    options: ListOptions = {},
  ): AsyncGenerator<ObjectList<T>, void, undefined> {
    checkOptions('listPages', options)
    let pageOptions: ListOptions = { ...options, limit: options.limit ?? pageSize }
    for (;;) {
      const page = await this.list(resource, pageOptions)
      yield page
      const token = page.metadata.continue ?? ''
      if (token === '') return
      // Yields between pages, because an in-process server may respond without yielding to the event loop.
      await this.#pages.next()
      // The continue token contains the resource version.
      const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = pageOptions
      pageOptions = { ...rest, continue: token }
    }
  }

  watch<T extends ApiObject>(resource: ResourceRef<T>, options: WatchOptions = {}): AsyncIterableIterator<WatchEvent<T>> {
    checkOptions('watch', options)
    const { resourceVersion, bookmarks = false, resume = true, shared = false, signal, ...selection } = options
    const common = { resourceVersion, bookmarks, resume, clock: this.#clock, random: this.#random }
    const ended = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    return watchCollection<T>(this.source(resource, selection, shared), { ...common, signal: ended })
  }

  /** Returns the source of a reflector or an informer. */
  source<T extends ApiObject>(resource: ResourceRef<T>, selection: Omit<SelectOptions, 'signal'>, shared: boolean) {
    const type = typeOf(resource)
    const path = pathOf(type, { namespace: selection.namespace ?? '' })
    const connect = async function* (this: TransportClient, resourceVersion: string, signal: AbortSignal) {
      const query = watchQuery(selection, { resourceVersion, timeoutMs: this.#watchTimeoutMs, random: this.#random })
      const headers = { accept: this.#codec.accept(type, 'watch') }
      const response = await this.#sender.sendOrThrow({ method: 'GET', path, query, headers, signal })
      const events = shared ? response.events : undefined
      yield* events === undefined ? eventsOf<T>(this.#codec.events(response)) : sharedEventsOf<T>(events)
    }
    return {
      list: (signal: AbortSignal) => this.listPages(resource, { ...selection, signal }),
      watch: (resourceVersion: string, signal: AbortSignal) => connect.call(this, resourceVersion, signal),
    }
  }

  async create<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Draft<NoInfer<W>>,
    options: WriteOptions = {},
  ): Promise<T> {
    const type = typeOf(resource)
    checkObject('create', object)
    checkOptions('create', options)
    const isSubresource = (options.subresource ?? type.subresource) !== undefined
    const path = isSubresource
      ? this.#pathOfObject(type, object, options)
      : this.#path(type, { ...options, namespace: this.#namespaceOf(object, options) })
    return this.#object(type, await this.#write('POST', { path, type, object, options }))
  }

  async update<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Draft<NoInfer<W>>,
    options: WriteOptions = {},
  ): Promise<T> {
    const type = typeOf(resource)
    checkObject('update', object)
    checkOptions('update', options)
    const path = this.#pathOfObject(type, object, options)
    return this.#object(type, await this.#write('PUT', { path, type, object, options }))
  }

  async apply<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Applied<NoInfer<W>>,
    options: ApplyOptions,
  ): Promise<T> {
    const type = typeOf(resource)
    checkObject('apply', object)
    checkApply(options)
    return this.#object(type, {
      method: 'PATCH',
      path: this.#pathOfObject(type, object, options),
      query: [writeQuery(options), queryOf({ force: options.force })].filter((part) => part !== '').join('&'),
      headers: { 'content-type': applyPatch },
      body: await encodeBody({ apiVersion: apiVersionOf(type), kind: type.kind, ...object }),
      ...signalOf(options),
    })
  }

  async patch<T extends ApiObject>(resource: ResourceRef<T>, name: string, options: PatchOptions): Promise<T> {
    const type = typeOf(resource)
    checkName('patch', name)
    checkPatch(options, patchTypes)
    return this.#object(type, {
      method: 'PATCH',
      path: this.#path(type, { ...options, name }),
      query: writeQuery(options),
      headers: { 'content-type': patchTypes[options.type] },
      body: await encodeBody(options.patch),
      ...signalOf(options),
    })
  }

  async delete<T extends ApiObject>(resource: ResourceRef<T>, name: string, options: DeleteOptions = {}): Promise<T | Status> {
    const type = typeOf(resource)
    checkName('delete', name)
    checkOptions('delete', options)
    const value = await this.#value(type, {
      method: 'DELETE',
      path: this.#path(type, { ...options, name }),
      query: '',
      ...deleteBody(options),
      ...signalOf(options),
    })
    return isStatus(value) ? value : complete(type, value)
  }

  async deleteCollection<T extends ApiObject>(
    resource: ResourceRef<T>,
    options: DeleteCollectionOptions = {},
  ): Promise<ObjectList<T> | Status> {
    const type = typeOf(resource)
    checkOptions('deleteCollection', options)
    const path = this.#path(type, options)
    const value = await this.#value(type, {
      method: 'DELETE',
      path,
      query: listQuery(options),
      ...deleteBody(options),
      ...signalOf(options),
    })
    return isStatus(value) ? value : listOf(type, value)
  }

  async request(request: RawRequest): Promise<RawResponse> {
    checkRequest(request)
    const { method = 'GET', path: target, headers = {}, body } = request
    const queryStart = target.indexOf('?')
    const isBinary = body instanceof Uint8Array || typeof body === 'string'
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const response = await this.#sender.send({
      method,
      path: queryStart < 0 ? target : target.slice(0, queryStart),
      query: queryStart < 0 ? '' : target.slice(queryStart + 1),
      headers: body === undefined || isBinary ? lower : { 'content-type': jsonMediaType, ...lower },
      ...(body === undefined ? {} : { body: isBinary ? utf8Bytes(body as string) : await encodeBody(body) }),
      ...signalOf(request),
    })
    return rawResponse(response)
  }

  async close(): Promise<void> {
    this.#closing.abort(new ClientError({ code: 'Closed', message: 'the client was closed' }))
    await this.#sender.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #path(type: ResourceType, options: ObjectOptions & { readonly name?: string }): string {
    const { name, subresource } = options
    return pathOf(type, { namespace: options.namespace ?? this.namespace, subresource, ...(name === undefined ? {} : { name }) })
  }

  #pathOfObject(type: ResourceType, object: Named, options: ObjectOptions): string {
    const { name } = object.metadata
    if (typeof name !== 'string') throw invalidRequest(`the ${type.kind} has no name`)
    return this.#path(type, { ...options, name, namespace: this.#namespaceOf(object, options) })
  }

  #namespaceOf(object: Named, options: ObjectOptions): string {
    return options.namespace ?? object.metadata.namespace ?? this.namespace
  }

  async #write(
    method: string,
    write: { path: string; type: ResourceType; object: Named; options: WriteOptions },
  ): Promise<TransportRequest> {
    const { path, type, object, options } = write
    const typed = { apiVersion: apiVersionOf(type), kind: type.kind, ...object }
    const { contentType, body } = await this.#codec.encode(type, typed)
    return { method, path, query: writeQuery(options), headers: { 'content-type': contentType }, body, ...signalOf(options) }
  }

  async #object<T extends ApiObject>(
    type: ResourceType<T>,
    request: Omit<TransportRequest, 'headers'> & Partial<Pick<TransportRequest, 'headers'>>,
  ): Promise<T> {
    return complete(type, await this.#value(type, request))
  }

  async #value(
    type: ResourceType,
    request: Omit<TransportRequest, 'headers'> & Partial<Pick<TransportRequest, 'headers'>>,
  ): Promise<object> {
    const headers = { accept: this.#codec.accept(type, 'object'), ...request.headers }
    const response = await this.#sender.sendOrThrow({ ...request, headers })
    const value = await this.#codec.decode(await readBytes(response.body), contentTypeOf(response))
    if (typeof value === 'object' && value !== null) return value
    throw new ClientError({ code: 'InvalidResponse', message: 'the response is not a JSON object' })
  }
}

/** Returns the source of a reflector. Its objects may be frozen and shared. */
export function sourceOf<T extends ApiObject>(
  client: Client,
  resource: ResourceRef<T>,
  selection: Omit<SelectOptions, 'signal'>,
) {
  if (client instanceof TransportClient) return client.source(resource, selection, true)
  return {
    list: (signal: AbortSignal) => client.listPages(resource, { ...selection, signal }),
    watch: (resourceVersion: string, signal: AbortSignal) =>
      client.watch(resource, { ...selection, resourceVersion, signal, bookmarks: true, resume: false, shared: true }),
  }
}

/** The common part of all drafts. */
type Named = { readonly metadata: ObjectMeta }

/** Sets apiVersion and kind, which the items of a list omit. */
function complete<T extends ApiObject>(type: ResourceType<T>, value: object): T {
  const object = value as T
  object.apiVersion ??= apiVersionOf(type)
  object.kind ??= type.kind
  return object
}

function listOf<T extends ApiObject>(type: ResourceType<T>, value: object): ObjectList<T> {
  const list = value as ObjectList<T> & { items: T[] | null | undefined }
  if (list.items !== null && list.items !== undefined && !Array.isArray(list.items)) {
    throw new ClientError({ code: 'InvalidResponse', message: 'the items of the list are not an array' })
  }
  const items = (list.items ?? []).map((item) => complete(type, item))
  return { ...list, metadata: list.metadata ?? {}, items }
}

/**
 * Checks the version of a list: a server that does not support `resourceVersionMatch` ignores it and lists another version.
 *
 * @throws ClientError `InvalidResponse`
 * @see API protocol specification, 4.2
 */
function requireVersion({ metadata }: ObjectList, { resourceVersion, resourceVersionMatch }: ListOptions): void {
  if (resourceVersionMatch !== 'Exact' || resourceVersion === undefined || metadata.resourceVersion === resourceVersion) return
  const found = metadata.resourceVersion === undefined ? 'no version' : `version ${metadata.resourceVersion}`
  const message = `the list has ${found}, but exactly ${resourceVersion} was requested; the server may not support resourceVersionMatch`
  throw new ClientError({ code: 'InvalidResponse', message })
}

function rawResponse(response: TransportResponse): RawResponse {
  const bytes = () => readBytes(response.body)
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text: async () => utf8Text(await bytes()),
    json: async () => parseJson(await bytes()),
    stream: () => response.body,
    // The stream of events is created on first access, because most raw requests read the body.
    get events() {
      return response.events
    },
  }
}
