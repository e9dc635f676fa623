import { type Authorizer, alwaysAllow } from '@krmkit/authorization'
import {
  type Clock,
  createFeatures,
  type Features,
  type NamingProfile,
  type Random,
  stockProfile,
  systemClock,
} from '@krmkit/meta'
import type { TolerationSeconds } from './plugins/default-toleration-seconds.ts'
import type { WebhookReach } from './webhook/options.ts'

/** What plugins are made of: everything they need beside the request. */
export interface AdmissionEnvironment {
  readonly profile: NamingProfile
  readonly random: Random
  readonly clock: Clock
  readonly features: Features
  /** Lifetime of the tokens that are mounted into pods, in seconds. Default 3600. */
  readonly mountedTokenSeconds?: number
  /** How long pods wait for the default account of their namespace, in milliseconds of the clock. Default 0. */
  readonly defaultAccountPatienceMs?: number
  /** Asked about rights that go beyond the request. */
  readonly authorizer: Authorizer
  /** Reaches a service outside, as the kubeconfig at a path describes it. Absent: plugins that need one cannot be made. */
  readonly connect?: (kubeconfigPath: string) => Post
  /** For how long pods stay on nodes with trouble, unless they say so themselves. */
  readonly tolerationSeconds?: TolerationSeconds
  /** Reaches webhooks. Absent: each call of one fails. */
  readonly webhooks?: WebhookReach
}

/** Posts JSON to one service and gives back what it answers with a status of 200 to 299. @throws when it does not answer so */
export type Post = (body: unknown) => Promise<unknown>

export type EnvironmentOptions = Pick<AdmissionEnvironment, 'random'> & Partial<AdmissionEnvironment>

/** Fills in safe defaults. */
export function admissionEnvironment(options: EnvironmentOptions): AdmissionEnvironment {
  return { profile: stockProfile, clock: systemClock, features: createFeatures(), authorizer: alwaysAllow, ...options }
}
