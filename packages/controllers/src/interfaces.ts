import type { RateLimit } from '@krmkit/base/token-bucket'
import type { CertificateSigners, SignerRules } from '@krmkit/certificates'
import type { BootstrapSigningKey } from '@krmkit/certificates/bootstrap'
import type { Client } from '@krmkit/client'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import type { Monitors } from './framework/monitors.ts'
import type { SharedInformers } from './framework/shared-informers.ts'
import type { QueueRun, WorkQueue, WorkQueueOptions } from './framework/work-queue.ts'
import type { MetricsProvider } from './metrics-provider.ts'

/**
 * A controller watches a cluster and moves its state towards the desired state. It accesses the server only through its
 * client.
 */
export interface Controller {
  /** Name for `--controllers`. */
  readonly name: string
  /** Whether `*` enables it. Default true. */
  readonly isDefault?: boolean
  /** Starts the controller without waiting. Disposing of the result stops it. */
  start(context: ControllerContext): AsyncDisposable
}

/**
 * Defers the heartbeats of simulated nodes: while virtual time advances, nothing observes them, and sending each one on time
 * would be wasted work.
 */
export interface DeferredHeartbeats {
  /** Clock of the heartbeats. Its timers may fire late: when virtual time stops next. */
  readonly clock: Clock
  /** Whether the node is beating. A beating node is not marked as unknown, even without recent renewals. */
  isBeating(node: string): boolean
  /** Calls back when the heartbeats of a node end. @returns a function that unsubscribes */
  onEnd(listener: (node: string) => void): () => void
}

/** Shared by controllers that run together. */
export interface ControllerContext {
  readonly client: Client
  /** The same client, with responses that hold only metadata. */
  readonly metadata: Client
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** The release and feature gates by which controllers act. */
  readonly features: Features
  /** Field manager of the writes of controllers. */
  readonly fieldManager: string
  /** PEM of the authority of the server certificate. Absent: it is not published. */
  readonly rootCA: string | undefined
  /** Issues the tokens of service account Secrets. Absent: these Secrets are not processed. */
  readonly legacyToken: LegacyTokenIssuer | undefined
  /** Which part of a bootstrap token is the signing key. */
  readonly bootstrapSigningKey: BootstrapSigningKey
  /** Rate limit of queues whose work grows with the writes of all users. Default: none. */
  readonly rateLimit: RateLimit | undefined
  /** Signs certificates. Absent: requests stay pending. */
  readonly signing: CertificateSigning | undefined
  /** Rules of automatic approvals. */
  readonly signerRules: SignerRules
  /** Metrics of autoscalers. Absent: resource usage from `metrics.k8s.io`. */
  readonly metrics: MetricsProvider | undefined
  /** Absent: heartbeats are sent on time. */
  readonly heartbeats: DeferredHeartbeats | undefined
  /** Aborts when the controllers stop. */
  readonly signal: AbortSignal
  /** Informers shared by all controllers. */
  readonly informers: SharedInformers
  /** Discovery, and the metadata of all objects that can be deleted. */
  readonly monitors: Monitors
  /** Creates a queue that stops with the controllers and counts as pending work for `settled`. */
  queue<K>(options: QueueOptions<K>): WorkQueue<K>
  /** Reports an error; the controller continues. */
  onError(error: unknown): void
}

export interface CertificateSigning {
  readonly signers: CertificateSigners
  /**
   * Whether an invalid request gets the condition `Failed`, with the reason. Default true. When false, the reason is only
   * passed to `onError`.
   */
  readonly reportFailures?: boolean
}

export type QueueOptions<K> = Pick<WorkQueueOptions<K>, 'sync' | 'workers' | 'rateLimit'> & {
  /** Clock of delays. Default: the clock of the controllers. */
  readonly clock?: Clock
}

export interface ControllersOptions {
  readonly client: Client
  readonly clock?: Clock
  readonly random?: Random
  readonly profile?: NamingProfile
  /** The release and feature gates of the server. Default: those of release 1.33. */
  readonly features?: Features
  /**
   * Names as in `--controllers`: `name` enables a controller, `-name` disables it, and `*` enables all default controllers.
   * Default `*`.
   */
  readonly controllers?: readonly string[]
  /** Available controllers. Default: `builtInControllers`. */
  readonly available?: readonly Controller[]
  readonly rootCA?: string
  readonly legacyToken?: LegacyTokenIssuer
  /** Default `token-secret`, as in kubeadm. */
  readonly bootstrapSigningKey?: BootstrapSigningKey
  /**
   * Rate limit of controllers that react to one write with several writes, such as the deployment controller, so that they
   * do not delay other requests. Default: no limit.
   */
  readonly rateLimit?: RateLimit
  /**
   * Whether controllers yield to the event loop when they have used their time budget in a turn, so that they do not delay
   * other requests. Default true. When false, the order of their requests does not depend on the speed of the machine.
   */
  readonly paced?: boolean
  readonly signing?: CertificateSigning
  /** Rules of automatic approvals; signers have their own. Default: those of kube-apiserver. */
  readonly signerRules?: SignerRules
  /** Metrics of autoscalers. Default: usage of resources from `metrics.k8s.io` of the server. */
  readonly metrics?: MetricsProvider
  /** Defers the heartbeats of simulated nodes. Default: heartbeats are sent on time. */
  readonly heartbeats?: DeferredHeartbeats
  /** Default `kube-controller-manager`. */
  readonly fieldManager?: string
  readonly onError?: (error: unknown) => void
  /** Receives each run of a controller for one key when it has ended. Default: runs are not measured. */
  readonly onRun?: (run: ControllerRun) => void
  /** Returns the current resource version of the store, for `settled`. Default: requested from the server. */
  readonly newestVersion?: () => string | Promise<string>
}

/** One run of a controller for one key of a queue, usually the namespace and name of an object. */
export interface ControllerRun extends QueueRun {
  /** Name of the controller. */
  readonly controller: string
}

/** Running controllers. */
export interface RunningControllers extends AsyncDisposable {
  /** Names of the running controllers. */
  readonly names: readonly string[]
  /**
   * Resolves when all informers are up to date and all queues are empty: nothing happens until the next write or timer. Does not wait
   * for delayed retries.
   */
  settled(): Promise<void>
  /** Stops watches and waits for running work. */
  close(): Promise<void>
}

/** A request for the token of a Secret. */
export interface LegacyTokenRequest {
  readonly namespace: string
  readonly secretName: string
  readonly accountName: string
  readonly accountUid: string
}

/** Issues the non-expiring tokens of service account Secrets. */
export type LegacyTokenIssuer = (request: LegacyTokenRequest) => Promise<string>
