import type { ApiObject, GroupVersionResource } from '@krmkit/meta'

/**
 * One client interface, whatever carries the requests: `inProcessClient` calls the server's function, `remoteClient` goes
 * over HTTP. Failures are thrown as `ApiError` with the server's Status.
 */

/** Options of a read. */
export interface GetOptions {
  readonly resourceVersion?: string
  readonly signal?: AbortSignal
}

export interface ListOptions extends GetOptions {
  /** Empty or absent: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  readonly allowWatchBookmarks?: boolean
  readonly timeoutSeconds?: number
}

export interface WriteOptions {
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
  /** Hears the texts of Warning headers. */
  readonly onWarning?: (text: string) => void
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  readonly force?: boolean
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
}

export type PatchType = 'merge' | 'json' | 'strategic'

export interface ObjectList<T = ApiObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number }
  readonly items: T[]
}

export type WatchEvent<T = ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** `object` holds nothing but its resourceVersion. */
  | { readonly type: 'BOOKMARK'; readonly object: T }

/** The verbs of one resource. `namespace` is `''` for cluster-scoped resources. */
export interface ResourceClient<T extends ApiObject = ApiObject> {
  get(namespace: string, name: string, options?: GetOptions): Promise<T>
  list(options?: ListOptions): Promise<ObjectList<T>>
  /** Every item, chunk by chunk; begins anew when its snapshot expires. */
  listPages(options?: ListOptions): AsyncIterable<ObjectList<T>>
  /** One watch request: ends when the server ends it; throws ApiError for ERROR events (410 when the version is gone). */
  watch(options?: WatchOptions): AsyncIterable<WatchEvent<T>>
  create(object: T, options?: WriteOptions): Promise<T>
  /** PUT. `subresource` such as `status`. */
  update(object: T, options?: WriteOptions & { readonly subresource?: string }): Promise<T>
  patch(namespace: string, name: string, type: PatchType, patch: unknown, options?: WriteOptions & { readonly subresource?: string }): Promise<T>
  apply(object: T, options: ApplyOptions & { readonly subresource?: string }): Promise<T>
  /** Resolves to the answer: a Status, or the object while it lives on. */
  delete(namespace: string, name: string, options?: DeleteOptions): Promise<ApiObject>
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<ApiObject>
}

/** What a resource is called by; a `ResourceDefinition` of `@krmkit/kinds` is accepted where this is. */
export interface ResourceReference extends GroupVersionResource {
  readonly namespaced: boolean
}

export interface RawRequest {
  readonly method: string
  /** Path and query, as on the wire. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  readonly signal?: AbortSignal
}

export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** The whole body. */
  bytes(): Promise<Uint8Array>
  /** The body piece by piece. */
  stream(): AsyncIterable<Uint8Array>
}

export interface Client extends AsyncDisposable {
  resource<T extends ApiObject = ApiObject>(reference: ResourceReference): ResourceClient<T>
  /** Any request. Does not throw for error statuses. */
  request(request: RawRequest): Promise<RawResponse>
  /** Resources that the server lists in its discovery documents, preferred versions first. */
  discover(): Promise<readonly (ResourceReference & { readonly kind: string; readonly verbs: readonly string[] })[]>
}
