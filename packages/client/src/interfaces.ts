import type { ApiObject, Completed, JsonObject, JsonValue, ListMeta, Status, Typed } from '@krmkit/meta'
import type { SharedEvent } from '@krmkit/protocol'

/**
 * One client interface, whatever carries its requests: a function call in the same process or HTTPS to another machine.
 *
 * Failures that the server answers are `ApiError` of `@krmkit/meta`; failures to reach it are `ClientError`.
 */

/** Where a type of object lives, and what its objects look like: as they are read, and as they may be written. */
export interface ResourceType<T extends ApiObject = ApiObject, W extends ApiObject = T> extends Typed<T>, Completed<W> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** Plural, as in the URL. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** For a sub-resource with objects of its own (`scale`): its name. */
  readonly subresource?: string
  /** API version of the objects, when it is not `group/version` of the path (`scale` is `autoscaling/v1`). */
  readonly objectVersion?: string
}

/** A resource as `@krmkit/kinds` describes it; every `ResourceDefinition` is one. */
export interface DefinedResource {
  readonly group: string
  readonly version: string
  readonly resource: { readonly name: string; readonly namespaced: boolean }
  readonly kind: { readonly kind: string }
}

export type ResourceRef<T extends ApiObject = ApiObject, W extends ApiObject = ApiObject> = ResourceType<T, W> | DefinedResource

/** An object to write: its apiVersion and kind may be left to the resource. */
export type Draft<T extends ApiObject> = { [K in keyof T as K extends 'apiVersion' | 'kind' ? never : K]: T[K] } & {
  apiVersion?: string
  kind?: string
}

/** The part of an object that is applied: what it leaves out is left to others, or to defaults. */
export type Applied<T extends ApiObject> = Pick<Draft<T>, 'metadata' | 'apiVersion' | 'kind'> & {
  [K in keyof T as K extends 'apiVersion' | 'kind' | 'metadata' ? never : K]?: Partly<T[K]>
}

type Partly<T> = T extends readonly (infer I)[] ? Partly<I>[] : T extends object ? { [K in keyof T]?: Partly<T[K]> } : T

export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

export interface ObjectOptions extends CallOptions {
  /** Default: that of the object, then the client's own. Ignored for resources without namespaces. */
  readonly namespace?: string
  /** `status` and others whose objects are those of the resource itself. */
  readonly subresource?: string
}

export interface GetOptions extends ObjectOptions {
  readonly resourceVersion?: string
}

export interface SelectOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ListOptions extends SelectOptions {
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WatchOptions extends SelectOptions {
  /**
   * Start after this version. Absent: the objects that exist come first, as `ADDED`, and when history runs out the watch
   * lists again and tells the difference. Given: running out of history ends the watch with an ApiError 410.
   */
  readonly resourceVersion?: string
  /** Pass bookmarks on as events. They are asked for in any case, to resume from. Default false. */
  readonly bookmarks?: boolean
  /** Open the watch again when the server or the network ends it. Default true. */
  readonly resume?: boolean
  /** For callers who change nothing: a client in the same process may hand over frozen objects that others read too. Default false. */
  readonly shared?: boolean
}

export interface WriteOptions extends ObjectOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Take over fields that others own. Default false: a conflict is an ApiError 409. */
  readonly force?: boolean
}

export type PatchOptions = WriteOptions &
  (
    | { readonly type: 'merge' | 'strategic'; readonly patch: JsonObject }
    | { readonly type: 'json'; readonly patch: readonly JsonPatchOperation[] }
  )

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: JsonValue
}

export interface DeleteOptions extends ObjectOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
}

export type DeleteCollectionOptions = Omit<DeleteOptions, 'subresource'> & Omit<ListOptions, 'continue'>

export interface ObjectList<T extends ApiObject = ApiObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ListMeta
  readonly items: T[]
}

export interface WatchEvent<T extends ApiObject = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

/** A request that no method above makes. */
export interface RawRequest extends CallOptions {
  /** Default GET. */
  readonly method?: string
  /** Path and query as they go on the wire. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Bytes or text as they are; anything else as JSON. */
  readonly body?: Uint8Array | string | JsonObject | JsonValue[]
}

export interface RawResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
  json(): Promise<unknown>
  /** Pieces as they come; leaving the loop ends the request. Instead of the others, never beside them. */
  stream(): AsyncIterable<Uint8Array>
  /** Of a watch in the same process: its events, frozen and shared, instead of the bytes. */
  readonly events?: AsyncIterable<readonly SharedEvent[]> | undefined
}

export interface Client extends AsyncDisposable {
  /** Namespace of calls that name none. */
  readonly namespace: string
  get<T extends ApiObject>(resource: ResourceRef<T>, name: string, options?: GetOptions): Promise<T>
  list<T extends ApiObject>(resource: ResourceRef<T>, options?: ListOptions): Promise<ObjectList<T>>
  /** All pages of one snapshot, one by one. `limit` is the size of a page; default 500. */
  listPages<T extends ApiObject>(resource: ResourceRef<T>, options?: ListOptions): AsyncIterable<ObjectList<T>>
  /** Leaving the loop, or the signal, ends the watch. */
  watch<T extends ApiObject>(resource: ResourceRef<T>, options?: WatchOptions): AsyncIterableIterator<WatchEvent<T>>
  create<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Draft<NoInfer<W>>,
    options?: WriteOptions,
  ): Promise<T>
  /** Replaces the object; with its resourceVersion in it only when nobody else changed it (ApiError 409). */
  update<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Draft<NoInfer<W>>,
    options?: WriteOptions,
  ): Promise<T>
  patch<T extends ApiObject>(resource: ResourceRef<T>, name: string, options: PatchOptions): Promise<T>
  /** Server-side apply. */
  apply<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Applied<NoInfer<W>>,
    options: ApplyOptions,
  ): Promise<T>
  /** The Status of the deletion, or the object while it is still going away. */
  delete<T extends ApiObject>(resource: ResourceRef<T>, name: string, options?: DeleteOptions): Promise<T | Status>
  deleteCollection<T extends ApiObject>(
    resource: ResourceRef<T>,
    options?: DeleteCollectionOptions,
  ): Promise<ObjectList<T> | Status>
  /** Any request; an answer of 400 or above is not thrown but returned. */
  request(request: RawRequest): Promise<RawResponse>
  /** Ends connections and watches. */
  close(): Promise<void>
}
