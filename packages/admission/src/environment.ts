import { type Authorizer, alwaysAllowAuthorizer } from '@krmkit/authorization'
import {
  type Clock,
  createFeatures,
  type Features,
  type NamingProfile,
  type Random,
  stockProfile,
  systemClock,
} from '@krmkit/meta'
import type { OpenStaticObjects } from './manifests/static-objects.ts'
import type { WebhookEnvironment } from './webhook/options.ts'

/** The dependencies of the built-in plugins. */
export interface AdmissionEnvironment {
  readonly profile: NamingProfile
  readonly random: Random
  readonly clock: Clock
  readonly features: Features
  /** Lifetime of tokens mounted into pods, in seconds. Default 3607, which marks tokens that the issuer extends. */
  readonly mountedTokenSeconds?: number
  /** How long pod creation waits for the default service account of the namespace, in milliseconds. Default 0. */
  readonly defaultAccountWaitMs?: number
  /** Authorizes secondary permissions, such as `approve` on a signer. Default: allows everything. */
  readonly authorizer: Authorizer
  /** Opens a connection to the server of a kubeconfig. Absent: plugins that call a remote service cannot be created. */
  readonly connect?: (kubeconfigPath: string) => PostJson
  /** Defaults of DefaultTolerationSeconds. */
  readonly tolerationSeconds?: TolerationSeconds
  /** Opens the folders that the configurations of plugins for webhooks and policies name. Absent: they may not name folders. */
  readonly openStaticObjects?: OpenStaticObjects
  /** How webhooks are called. Absent: every call fails. */
  readonly webhooks?: WebhookEnvironment
}

/** How long a pod tolerates a failed node, in seconds. */
export interface TolerationSeconds {
  /** Default 300. */
  readonly notReady?: number
  /** Default 300. */
  readonly unreachable?: number
}

/** Posts JSON to one service. @returns the parsed body of a 2xx response. @throws Error for any other outcome. */
export type PostJson = (body: unknown) => Promise<unknown>

export type AdmissionEnvironmentOptions = Pick<AdmissionEnvironment, 'random'> & Partial<AdmissionEnvironment>

/** Fills in defaults. */
export function createAdmissionEnvironment(options: AdmissionEnvironmentOptions): AdmissionEnvironment {
  return { profile: stockProfile, clock: systemClock, features: createFeatures(), authorizer: alwaysAllowAuthorizer, ...options }
}
