import type { Client } from '@krmkit/client'
import {
  type CertificateSigning,
  type Controller,
  type ControllerRun,
  type DeferredHeartbeats,
  type RunningControllers,
  runControllers,
} from '@krmkit/controllers'
import { createFeatures } from '@krmkit/meta'
import { deferredHeartbeats } from './cluster.ts'
import type { HostAuthority } from './host.ts'
import type { Instance } from './instance.ts'
import type { TestServerOptions } from './interfaces.ts'
import { optional } from './optional.ts'
import { ResettableClock, type TestClock } from './test-clock.ts'

/** The controllers of a test server. */

export interface ControllerParts {
  readonly instance: Instance
  readonly client: Client
  readonly clock: TestClock
  readonly chosen: { readonly controllers: readonly string[]; readonly available?: readonly Controller[] }
  readonly authority: HostAuthority | undefined
  /** Whether a client other than the controllers watches nodes or their leases. */
  readonly isWatched: () => boolean
  readonly onRun: (run: ControllerRun) => void
}

/** Runs the controllers of a server between two resets. */
export function runInstanceControllers(options: TestServerOptions, parts: ControllerParts): RunningControllers {
  const { rootCA, legacyToken, metrics, onError, signerRules, emulate, server = {} } = options
  const { random, profile } = server
  const { instance, client, clock, chosen, onRun } = parts
  return runControllers({
    ...{ client, clock, onRun },
    ...chosen,
    paced: false,
    features: server.features ?? createFeatures(emulate ?? server.emulate),
    newestVersion: () => String(instance.storage.revision),
    ...optional({ random, profile, rootCA, legacyToken, signerRules, metrics, onError }),
    ...signingOf(options, parts),
    ...heartbeatsOf(options, parts),
  })
}

function signingOf(
  { signing, signerRules }: TestServerOptions,
  { authority, clock }: ControllerParts,
): { readonly signing?: CertificateSigning } {
  if (signing === 'none') return {}
  if (signing !== undefined) return { signing }
  return authority === undefined ? {} : { signing: { signers: authority.signers(clock, signerRules) } }
}

/** Heartbeats are coalesced while time advances, unless they are observed or their interval is set. */
function heartbeatsOf(
  { cluster }: TestServerOptions,
  { clock, instance, isWatched }: ControllerParts,
): { readonly heartbeats?: DeferredHeartbeats } {
  if (!(clock instanceof ResettableClock) || cluster?.heartbeatMs !== undefined) return {}
  clock.isObserved = isWatched
  return deferredHeartbeats(instance.simulation, clock.deferred)
}
