import type { AdmissionOptions } from './admission/options.ts'
import type { AggregationOptions } from './aggregation/options.ts'
import type { AuditOptions } from './audit/options.ts'
import type { AuthenticationOptions } from './authentication/options.ts'
import type { AuthorizationOptions } from './authorization/options.ts'
import type { SigningOptions } from './certificate/serve-options.ts'
import type { JoinOptions } from './token/options.ts'

/** What `krmkit serve` was told, flag by flag. */
export interface ServeOptions
  extends AdmissionOptions,
    AuthenticationOptions,
    AuthorizationOptions,
    SigningOptions,
    AuditOptions,
    AggregationOptions,
    JoinOptions {
  readonly securePort: number
  readonly bindAddress: string
  readonly advertiseAddress?: string
  readonly externalHostname?: string
  readonly storage: 'memory' | 'durable'
  readonly dataDir: string
  /** Milliseconds for which history is kept. */
  readonly etcdCompactionInterval: number
  readonly certDir?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** Path; empty: none is written. */
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
  readonly serviceClusterIpRange: string
  readonly serviceNodePortRange: { readonly from: number; readonly to: number }
  readonly allowPrivileged: boolean
  readonly corsAllowedOrigins: readonly RegExp[]
  readonly strictTransportSecurityDirectives: readonly string[]
  readonly goawayChance: number
  /** Milliseconds. */
  readonly shutdownDelayDuration: number
  readonly v: number
  /** Names of the flags that were given, as this type has them. */
  readonly explicit?: readonly string[]
}
