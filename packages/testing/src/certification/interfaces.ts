/** A value, or a promise of it: adapters of programs in another process are asynchronous. */
export type Awaitable<T> = T | Promise<T>

/** The server of one scenario. Each scenario has its own. */
export interface CertificationServer {
  /** Address, with TLS. */
  readonly url: string
  /** Path of a kubeconfig whose user has `tokenFile`. */
  readonly kubeconfig: string
  /** Path of the bearer token, which may be replaced while the client runs. */
  readonly tokenFile: string
  /** The bearer token at the start. */
  readonly token: string
  /** PEM of the certificate authority of the server. */
  readonly authority: string
  /** Path of a file with `authority`. */
  readonly authorityFile: string
}

/** Options for starting an informer of the ConfigMaps (`v1`) of a namespace. */
export interface InformerStart {
  readonly server: CertificationServer
  readonly namespace: string
  readonly labelSelector?: string
  /** Start with a streaming list (`sendInitialEvents`). Set only for adapters with this feature. */
  readonly streamingLists?: true
  /** Time after which a watch should end. Set only for adapters with the feature `watchTimeouts`. */
  readonly watchTimeoutMs?: number
}

/** A call of the handlers of an informer. */
export interface InformerEvent {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly object: CachedObject
}

/** The part of a ConfigMap that is compared. Objects may have more members. */
export interface CachedObject {
  readonly metadata: {
    readonly name?: string
    readonly generateName?: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
}

/** A running informer. */
export interface RunningInformer {
  /** Whether the first list is complete in the cache. */
  hasSynced(): Awaitable<boolean>
  /** The objects in the cache. */
  objects(): Awaitable<readonly CachedObject[]>
  /** All calls of the handlers since the start, oldest first. Absent: they are not checked. */
  events?(): Awaitable<readonly InformerEvent[]>
  stop(): Awaitable<void>
}

/** Optional features of informers. Without a feature its scenarios do not apply. */
export interface InformerFeatures {
  readonly streamingLists?: boolean
  readonly watchTimeouts?: boolean
}

/** Starts informers of the library under test. */
export interface InformerAdapter {
  readonly features?: InformerFeatures
  /** Resolves when the informer runs; it need not have synced. The informer must continue after errors. */
  start(options: InformerStart): Awaitable<RunningInformer>
}

/** The body of a patch, and its kind. */
export type CertificationPatch =
  | { readonly type: 'merge' | 'strategic'; readonly patch: object }
  | { readonly type: 'json'; readonly patch: readonly object[] }

/** Options of a list. */
export interface CertificationListOptions {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Maximum number of objects in a chunk. */
  readonly limit?: number
}

/**
 * A client of the ConfigMaps of a namespace. Scenarios of absent methods do not apply. Methods reject with an error whose
 * `code` or `statusCode` is the HTTP status of the response.
 */
export interface ConnectedClient {
  get?(name: string): Awaitable<CachedObject>
  /** Lists all objects, following continue tokens. */
  list?(options: CertificationListOptions): Awaitable<readonly CachedObject[]>
  create?(object: CachedObject): Awaitable<CachedObject>
  /** Replaces an object by the given one, which was read before. */
  update?(object: CachedObject): Awaitable<CachedObject>
  /** Changes `data` of an object with the retry helper of the library: read, change, write; repeated after a conflict. */
  modify?(name: string, data: Readonly<Record<string, string>>): Awaitable<CachedObject>
  patch?(name: string, patch: CertificationPatch): Awaitable<CachedObject>
  /** Server-side apply. */
  apply?(object: CachedObject, fieldManager: string): Awaitable<CachedObject>
  delete?(name: string, preconditions: { readonly uid?: string; readonly resourceVersion?: string }): Awaitable<void>
  close?(): Awaitable<void>
}

/** Connects clients of the library under test. */
export interface ClientAdapter {
  connect(server: CertificationServer, namespace: string): Awaitable<ConnectedClient>
}

/** The library under test. */
export interface CertificationSubject {
  readonly name: string
  readonly informer?: InformerAdapter
  readonly client?: ClientAdapter
}

/**
 * A situation that a correct client handles.
 *
 * @see {@link certify}
 */
export interface CertificationScenario {
  /** Stable id: `list-compacted`. */
  readonly id: string
  readonly part: 'informer' | 'client'
  /** The behaviour of a correct client. */
  readonly title: string
  /** The consequences of other behaviour. */
  readonly why: string
}

/** The outcome of one scenario. */
export interface CertificationResult extends CertificationScenario {
  readonly outcome: 'passed' | 'failed' | 'notApplicable'
  /** What was observed: the violation, the reason why the scenario does not apply, or the requests of the client. */
  readonly observed: string
}

export interface CertificationReport {
  readonly subject: string
  /** In the order of `certificationScenarios`. */
  readonly results: readonly CertificationResult[]
  readonly failed: readonly CertificationResult[]
}

export interface CertificationOptions {
  /** Ids of the scenarios to run. Default: all. */
  readonly scenarios?: readonly string[]
  /** Time in milliseconds for the client to recover from a fault. Default 20 s. */
  readonly patienceMs?: number
  /** Number of scenarios that run at a time. Default 4. */
  readonly concurrency?: number
}
