import type { BootstrapSigningKey, CertificateSigners } from '@krmkit/certificates'
import type { Client } from '@krmkit/client'
import type { Clock, NamingProfile, Pace, Random } from '@krmkit/meta'
import type { Monitors } from './framework/monitors.ts'
import type { SharedInformers } from './framework/shared-informers.ts'
import type { WorkQueue, WorkQueueOptions } from './framework/work-queue.ts'
import type { LegacyTokenIssuer } from './service-account-tokens/token-secrets.ts'

/**
 * A controller watches the state of a cluster and changes it towards what somebody asked for. Each is a value of this one
 * shape, and knows the server by its client alone.
 */
export interface Controller {
  /** As `--controllers` names it. */
  readonly name: string
  /** Runs when only `*` was asked for. Default true. */
  readonly isDefault?: boolean
  /** Begins to watch and to work; disposing of the answer ends both. Returns at once: what takes long happens in queues. */
  start(context: ControllerContext): AsyncDisposable
}

/** What controllers that run together share. */
export interface ControllerContext {
  readonly client: Client
  /** The same client, whose answers hold metadata alone. */
  readonly metadata: Client
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Owner of the fields that controllers write. */
  readonly fieldManager: string
  /** PEM of the authority that signed the server's certificate; absent: nobody publishes it. */
  readonly rootCA: string | undefined
  /** Makes the tokens that Secrets of service accounts hold; absent: such Secrets are left alone. */
  readonly legacyToken: LegacyTokenIssuer | undefined
  /** What bootstrap tokens sign cluster information with. */
  readonly bootstrapSigningKey: BootstrapSigningKey
  /** Pace of the queues whose work grows with what everybody writes. Default: none. */
  readonly rateLimit: Pace | undefined
  /** Who signs certificates; absent: requests wait for somebody else. */
  readonly signing: CertificateSigning | undefined
  /** Aborts when the controllers end. */
  readonly signal: AbortSignal
  /** Local copies of collections, one for each however many ask. */
  readonly informers: SharedInformers
  /** What discovery knows, and the metadata of every object that can be deleted. */
  readonly monitors: Monitors
  /** A queue that ends with the controllers and counts as work for `settled`. */
  queue<K>(options: QueueOptions<K>): WorkQueue<K>
  /** Told of failures after which a controller goes on. */
  onError(error: unknown): void
}

export interface CertificateSigning {
  readonly signers: CertificateSigners
  /**
   * Whether a request that is not signed gets the condition `Failed`. Default false: why it is not goes to `onError` alone.
   */
  readonly reportFailures?: boolean
}

export type QueueOptions<K> = Pick<WorkQueueOptions<K>, 'sync' | 'workers' | 'rateLimit'>

export interface ControllersOptions {
  readonly client: Client
  readonly clock?: Clock
  readonly random?: Random
  readonly profile?: NamingProfile
  /** Names as `--controllers` takes them: `name`, `-name` (not this one) and `*` (all that are on by default). Default `*`. */
  readonly controllers?: readonly string[]
  /** What can be run. Default: `builtInControllers`. */
  readonly available?: readonly Controller[]
  readonly rootCA?: string
  readonly legacyToken?: LegacyTokenIssuer
  /** Default `token-secret`, as kubeadm expects it. */
  readonly bootstrapSigningKey?: BootstrapSigningKey
  /**
   * Holds back controllers that make several writes of each that somebody else makes, such as those of deployments, so that they never
   * get in the way of requests. Default: they work as fast as they can.
   */
  readonly rateLimit?: Pace
  readonly signing?: CertificateSigning
  /** Default `kube-controller-manager`. */
  readonly fieldManager?: string
  readonly onError?: (error: unknown) => void
  /** The newest version of the store, for `settled`. Default: the server is asked for it. */
  readonly newestVersion?: () => string | Promise<string>
}

/** Controllers at work. */
export interface RunningControllers extends AsyncDisposable {
  /** Names of those that run. */
  readonly names: readonly string[]
  /**
   * Resolves when every copy has caught up with the server and every queue is empty: nothing happens any more until
   * somebody writes or time passes. Retries that wait for the clock are not waited for.
   */
  settled(): Promise<void>
  /** Ends watches, lets work under way finish. */
  close(): Promise<void>
}
