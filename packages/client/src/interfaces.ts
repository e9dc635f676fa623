import type { ApiObject, Completed, JsonObject, JsonValue, ListMeta, Status, Typed } from '@krmkit/meta'
import type { SharedEvent } from '@krmkit/protocol'

/**
 * The client interface, the same in-process and over HTTPS.
 *
 * Errors that the server returns are `ApiError` of `@krmkit/meta`; other failures are `ClientError`.
 */

/** The location of a resource and the types of its objects: `T` as read, `W` as written. */
export interface ResourceType<T extends ApiObject = ApiObject, W extends ApiObject = T> extends Typed<T>, Completed<W> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** Plural name, as in the URL. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** Name of a subresource with its own object type, such as `scale`. */
  readonly subresource?: string
  /** API version of the objects, when it differs from the path: `autoscaling/v1` for `scale`. */
  readonly objectVersion?: string
}

/** The part of `ResourceDefinition` of `@krmkit/kinds` that the client uses. */
export interface DefinedResource {
  readonly group: string
  readonly version: string
  readonly resource: { readonly name: string; readonly namespaced: boolean }
  readonly kind: { readonly kind: string }
}

export type ResourceRef<T extends ApiObject = ApiObject, W extends ApiObject = ApiObject> = ResourceType<T, W> | DefinedResource

/** An object to write. apiVersion and kind default to those of the resource. */
export type Draft<T extends ApiObject> = { [K in keyof T as K extends 'apiVersion' | 'kind' ? never : K]: T[K] } & {
  apiVersion?: string
  kind?: string
}

/** The applied part of an object; omitted fields are left to other managers and to defaults. */
export type Applied<T extends ApiObject> = Pick<Draft<T>, 'metadata' | 'apiVersion' | 'kind'> & {
  [K in keyof T as K extends 'apiVersion' | 'kind' | 'metadata' ? never : K]?: DeepPartial<T[K]>
}

type DeepPartial<T> = T extends readonly (infer I)[]
  ? DeepPartial<I>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

export interface CallOptions {
  /** Aborts the call, which rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

export interface ObjectOptions extends CallOptions {
  /** Default: the namespace of the object, or else that of the client. Ignored for cluster-scoped resources. */
  readonly namespace?: string
  /** `status`, or another subresource with the object type of the resource. */
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
   * Start after this version; the watch ends with an ApiError 410 when it expires. Absent: existing objects are yielded first, as
   * `ADDED`, and when the version expires the watch lists again and yields the difference.
   */
  readonly resourceVersion?: string
  /** Whether to yield `BOOKMARK` events. They are always requested, because a watch resumes from them. Default false. */
  readonly bookmarks?: boolean
  /** Whether to resume the watch when its connection ends. Default true. */
  readonly resume?: boolean
  /** Whether an in-process client may yield frozen objects shared with other readers. Default false. */
  readonly shared?: boolean
}

export interface WriteOptions extends ObjectOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Whether to take ownership of conflicting fields. Default false: a conflict is an ApiError 409. */
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

/** A request that the other methods do not cover. */
export interface RawRequest extends CallOptions {
  /** Default GET. */
  readonly method?: string
  /** Path and query, percent-encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Bytes or text are sent unchanged; other values as JSON. */
  readonly body?: Uint8Array | string | JsonObject | JsonValue[]
}

export interface RawResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
  json(): Promise<unknown>
  /** Streams the body; use either this or one of the other methods. Leaving the loop ends the request. */
  stream(): AsyncIterable<Uint8Array>
  /** Events of an in-process watch, frozen and shared. Read either these or the bytes. */
  readonly events?: AsyncIterable<readonly SharedEvent[]> | undefined
}

/**
 * The client interface. Objects passed to a write must not change until its promise settles, because large ones are encoded
 * in time slices.
 */
export interface Client extends AsyncDisposable {
  /** Default namespace of calls. */
  readonly namespace: string
  get<T extends ApiObject>(resource: ResourceRef<T>, name: string, options?: GetOptions): Promise<T>
  list<T extends ApiObject>(resource: ResourceRef<T>, options?: ListOptions): Promise<ObjectList<T>>
  /** Iterates over the pages of one snapshot. `limit` is the page size; default 500. */
  listPages<T extends ApiObject>(resource: ResourceRef<T>, options?: ListOptions): AsyncIterable<ObjectList<T>>
  /** Watches a collection until the loop is left or the signal aborts. */
  watch<T extends ApiObject>(resource: ResourceRef<T>, options?: WatchOptions): AsyncIterableIterator<WatchEvent<T>>
  create<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Draft<NoInfer<W>>,
    options?: WriteOptions,
  ): Promise<T>
  /** Replaces an object. With a resourceVersion a concurrent change is an ApiError 409. */
  update<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Draft<NoInfer<W>>,
    options?: WriteOptions,
  ): Promise<T>
  patch<T extends ApiObject>(resource: ResourceRef<T>, name: string, options: PatchOptions): Promise<T>
  /** Applies an object by server-side apply. */
  apply<T extends ApiObject, W extends ApiObject = T>(
    resource: ResourceRef<T, W>,
    object: Applied<NoInfer<W>>,
    options: ApplyOptions,
  ): Promise<T>
  /** Deletes an object. @returns a Status, or the object while it is terminating */
  delete<T extends ApiObject>(resource: ResourceRef<T>, name: string, options?: DeleteOptions): Promise<T | Status>
  deleteCollection<T extends ApiObject>(
    resource: ResourceRef<T>,
    options?: DeleteCollectionOptions,
  ): Promise<ObjectList<T> | Status>
  /** Sends any request. Returns responses of 400 and above instead of throwing. */
  request(request: RawRequest): Promise<RawResponse>
  /** Closes connections and watches. */
  close(): Promise<void>
}
