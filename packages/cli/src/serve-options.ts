import type { AdmissionOptions } from './admission/options.ts'
import type { AggregationOptions } from './aggregation/options.ts'
import type { AuditOptions } from './audit/options.ts'
import type { AuthenticationOptions } from './authentication/options.ts'
import type { AuthorizationOptions } from './authorization/options.ts'
import type { SigningOptions } from './certificate/serve-options.ts'
import type { KubeletFlags } from './kubelet/options.ts'
import type { LogFormat } from './log.ts'
import type { MetricsOptions } from './metrics/flags.ts'
import type { JoinOptions } from './token/options.ts'
import type { TracingOptions } from './tracing/flags.ts'

/** The flags of `krmkit serve`. */
export interface ServeOptions
  extends AdmissionOptions,
    AuthenticationOptions,
    AuthorizationOptions,
    SigningOptions,
    AuditOptions,
    AggregationOptions,
    KubeletFlags,
    MetricsOptions,
    TracingOptions,
    JoinOptions {
  readonly securePort: number
  /** Number of processes that serve connections besides this one; 0: this one serves them. */
  readonly threads: number
  readonly bindAddress: string
  readonly advertiseAddress?: string
  readonly externalHostname?: string
  /** `1.24`; absent: the newest release. */
  readonly emulatedVersion?: string
  readonly emulationForwardCompatible: boolean
  readonly runtimeConfigEmulationForwardCompatible: boolean
  readonly storage: 'memory' | 'durable' | 'etcd'
  readonly etcdServers: readonly string[]
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
  readonly etcdPrefix: string
  readonly endpointReconcilerType: 'lease' | 'none'
  readonly encryptionProviderConfig?: string
  readonly encryptionProviderConfigAutomaticReload: boolean
  readonly dataDir: string
  /** Retention of past revisions, in milliseconds. */
  readonly etcdCompactionInterval: number
  /** In milliseconds; 0: never. */
  readonly etcdDbMetricPollInterval: number
  /** In milliseconds. */
  readonly eventTtl: number
  readonly certDir?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** Path; empty: no kubeconfig is written. */
  readonly writeKubeconfig?: string
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
  /** Milliseconds. */
  readonly requestTimeout: number
  /** Seconds. */
  readonly minRequestTimeout: number
  readonly enablePriorityAndFairness: boolean
  readonly runtimeConfig: readonly string[]
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly controllers: readonly string[]
  /** Absent: with storage that several servers share. */
  readonly leaderElect?: boolean
  /** Milliseconds. */
  readonly leaderElectLeaseDuration: number
  /** Milliseconds. */
  readonly leaderElectRenewDeadline: number
  /** Milliseconds. */
  readonly leaderElectRetryPeriod: number
  readonly leaderElectResourceLock: 'leases'
  readonly leaderElectResourceName: string
  readonly leaderElectResourceNamespace: string
  readonly simulateNodes: number
  /** Path; only with simulated nodes. */
  readonly simulationFile?: string
  /** Records requests, and serves the page that shows them. */
  readonly inspector: boolean
  readonly serviceClusterIpRange: string
  readonly serviceNodePortRange: { readonly from: number; readonly to: number }
  readonly allowPrivileged: boolean
  readonly corsAllowedOrigins: readonly RegExp[]
  readonly strictTransportSecurityDirectives: readonly string[]
  readonly goawayChance: number
  /** Milliseconds. */
  readonly shutdownDelayDuration: number
  readonly v: number
  readonly loggingFormat: LogFormat
  /** Names of the members that the command line sets. */
  readonly explicit?: readonly string[]
  /** All flags with their values as texts, for `/flagz`. */
  readonly flagValues?: Readonly<Record<string, string>>
}
