import type { AdmissionEnvironment, AdmissionPlugin } from '@krmkit/admission'
import { type Authenticator, anonymousAuthenticator, type FrontProxyHeaders } from '@krmkit/authentication'
import type { OpenIdMetadata, ServiceAccountIssuer } from '@krmkit/authentication/service-account'
import { type Authorizer, alwaysAllowAuthorizer } from '@krmkit/authorization'
import type { Tracer } from '@krmkit/base/tracing'
import {
  builtInTypes,
  type ResourceDefinition,
  type ResourceSource,
  type ServiceNetwork,
  type StrategyContext,
} from '@krmkit/kinds'
import { type Clock, type Features, type NamingProfile, type Random, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import type { Storage } from '@krmkit/storage'
import { createFeatureGates } from '@krmkit/versioning'
import type { AuthorizerFactory } from '../access/access-control.ts'
import type { Aggregation } from '../aggregation/interfaces.ts'
import type { AuditOption } from '../audit/trails.ts'
import type { ProxyOptions } from '../backends/interfaces.ts'
import type { ConversionOptions } from '../conversion/interfaces.ts'
import type { HealthCheck } from '../health/health.ts'
import type { YamlTranslator } from '../media/yaml-translator.ts'

/** Options of a server. Every option except `storage` has a safe default. */
export interface ApiServerOptions {
  readonly storage: Storage
  /** Resources to serve, including those of `defineResource`. Default: every built-in kind that a kube-apiserver serves. */
  readonly kinds?: readonly (ResourceDefinition | ResourceSource)[]
  /**
   * The Kubernetes release to emulate, from `1.21` to `1.37`: served groups, versions and kinds, their fields and defaults, warnings,
   * discovery and `/version`. The built-in kinds of the release replace those in `kinds`. Default: 1.33.
   */
  readonly emulate?: string
  /** Types of the kinds. Default: the built-in ones. */
  readonly types?: TypeSource
  /** Authenticates requests. Default: all requests are anonymous, except those of in-process callers that set the user. */
  readonly authenticator?: Authenticator
  /**
   * Authorizes requests, or a factory that can use the objects in the store: `({ rbac }) => rbac()` authorizes by the stored roles and
   * bindings. Default: every request is allowed.
   */
  readonly authorizer?: Authorizer | AuthorizerFactory
  /**
   * Creates the default roles and bindings, and restores missing rules. `afterwards`: the server starts before the roles exist, and only
   * requests that would be denied wait for them. Default false.
   */
  readonly bootstrapRoles?: boolean | 'afterwards'
  /** Ranges of cluster addresses and node ports. Default: `10.0.0.0/24`, ports 30000 to 32767. */
  readonly serviceNetwork?: ServiceNetwork
  /** Whether pods may have privileged containers. Default false. */
  readonly allowPrivileged?: boolean
  /**
   * Verifies the signature of a CertificateSigningRequest when it is created: `requestSignatureError` of `@krmkit/certificates`. Default:
   * only signers verify it.
   */
  readonly requestSignatureError?: StrategyContext['requestSignatureError']
  /** Issues tokens of service accounts. Default: none are issued. */
  readonly serviceAccountIssuer?: ServiceAccountIssuer
  /** Discovery documents of the issuer, served at the well-known paths. Default: none. */
  readonly issuerDocuments?: OpenIdMetadata
  /** Identity headers of the front proxy, besides the usual ones; only authentication sees them. */
  readonly proxyHeaders?: FrontProxyHeaders
  /**
   * Plugins in execution order, or a factory such as `defaultAdmissionPlugins`. `NamespaceLifecycle` runs first unless it is listed;
   * only a factory can leave it out. Default: no other plugin.
   */
  readonly admission?: readonly AdmissionPlugin[] | ((environment: AdmissionEnvironment) => readonly AdmissionPlugin[])
  /** Maintains APIService objects and proxies requests to the servers that they name. Default: no aggregation. */
  readonly aggregation?: Aggregation
  /**
   * Connects to pods, services and nodes, for their subresources `proxy`, `exec`, `attach`, `portforward` and `log`. Default: no transport,
   * so that every connection fails.
   */
  readonly proxy?: ProxyOptions
  /** Transport of conversion webhooks. Default: none, so that conversions by webhook fail. */
  readonly conversion?: ConversionOptions
  readonly clock?: Clock
  readonly random?: Random
  readonly profile?: NamingProfile
  /**
   * The emulated release and its feature gates: `createFeatureGates({ set: 'HPAScaleToZero=true' })` of `@krmkit/versioning`. Default: the
   * newest release with its defaults.
   */
  readonly features?: Features
  readonly limits?: Partial<ServerLimits>
  /** Parses large YAML bodies off the event loop. Default: bodies above 128 KiB that are not JSON are refused with 413. */
  readonly yamlTranslator?: YamlTranslator
  readonly corsAllowedOrigins?: readonly RegExp[]
  /** Directives of the Strict-Transport-Security header: `max-age=31536000`, `includeSubDomains`, `preload`. Default: no header. */
  readonly strictTransportSecurity?: readonly string[]
  /**
   * Whether to serve requests by priority and fairness: flow schemas and priority levels in the store divide `readOnlyInFlight` and
   * `mutatingInFlight` together. Default false: the two limits apply separately.
   */
  readonly flowControl?: boolean
  /** Receives audit events: a function receives one event for every completed request, a trail the events that its policy selects. */
  readonly audit?: AuditOption
  /** Called with internal errors: those answered with 500. */
  readonly onError?: (error: unknown) => void
  /**
   * Records the spans of requests, such as `trace.getTracer('krmkit')` of `@opentelemetry/api`. Default: none; the trace of a client is only
   * passed on to webhooks and aggregated servers.
   */
  readonly tracer?: Tracer
  /** Readiness checks besides those of the server. */
  readonly readiness?: readonly HealthCheck[]
  /** Names and values of flags, shown at `/flagz` with the gate `ComponentFlagz`. Default: the page does not exist. */
  readonly flags?: Readonly<Record<string, string>>
  /** Address in discovery documents, `host:port`. */
  readonly serverAddress?: string
  /**
   * Whether another server over the same storage maintains system objects, default roles, APIServices, and the status of
   * CustomResourceDefinitions and APIServices. This server then only follows them, so `bootstrapRoles` has no effect. Default false.
   */
  readonly replica?: boolean
}

/** @see API protocol specification, 8 */
export interface ServerLimits {
  /** Maximum size of a request body, in bytes. */
  readonly bodyBytes: number
  /** Maximum size of a stored object, in bytes. */
  readonly objectBytes: number
  readonly readOnlyInFlight: number
  readonly mutatingInFlight: number
  readonly requestTimeoutMs: number
  /** Minimum duration of a watch without a timeout; the maximum is twice as long. */
  readonly watchMs: number
}

export const defaultLimits: ServerLimits = {
  bodyBytes: 3 * 1024 * 1024,
  objectBytes: 1.5 * 1024 * 1024,
  readOnlyInFlight: 400,
  mutatingInFlight: 200,
  requestTimeoutMs: 60_000,
  watchMs: 1_800_000,
}

type Defaulted = 'authenticator' | 'authorizer' | 'clock' | 'random' | 'profile' | 'features' | 'types' | 'onError'

/** The options of a server with all defaults. */
export interface ServerSettings
  extends Omit<ApiServerOptions, Defaulted | 'limits'>,
    Required<Pick<ApiServerOptions, Defaulted>> {
  readonly limits: ServerLimits
}

export function withDefaults(options: ApiServerOptions): ServerSettings {
  const { profile = stockProfile } = options
  return {
    authenticator: anonymousAuthenticator,
    authorizer: alwaysAllowAuthorizer,
    clock: systemClock,
    random: systemRandom,
    features: createFeatureGates(),
    onError: () => {},
    ...definedMembers(options),
    profile,
    types: options.types ?? builtInTypes(profile),
    limits: { ...defaultLimits, ...options.limits },
  }
}

/** Drops members that are present but `undefined`, because they would hide a default. */
function definedMembers(options: ApiServerOptions): ApiServerOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as unknown as ApiServerOptions
}
