import { hostname } from 'node:os'
import type { EmbeddedServer } from '@krmkit/apiserver'
import { createInProcessClient } from '@krmkit/client'
import {
  type Controller,
  ControllersError,
  type ControllersOptions,
  chooseControllers,
  type LeaderElectionTimes,
  leaderElection,
  type RunningControllers,
  runControllers,
  type SharedServerState,
  serverControllers,
} from '@krmkit/controllers'
import type { Listener } from '@krmkit/http'
import { defaultRelease, type UserInfo } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { Storage } from '@krmkit/storage'
import type { Inspector } from '@krmkit/testing'
import { apiServerUser } from './api-server-user.ts'
import { CliError } from './cli-error.ts'
import type { Log } from './log.ts'
import { environment, type ServerComponents } from './serve-components.ts'
import type { ServeOptions } from './serve-options.ts'
import { serverFacts } from './server-facts.ts'
import { storedAddresses } from './storage/server-addresses.ts'
import { publishClusterInfo } from './token/cluster-info.ts'

const controllerManager: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
}

/** The client rate limit of a stock controller manager. */
const controllersRateLimit = { perSecond: 20, burst: 30 }

interface ControllerContext {
  readonly components: ServerComponents
  readonly server: EmbeddedServer
  readonly storage: Storage
  readonly listening: Listener
  readonly serverAddress: string
  readonly log: Log
  /** Absent without `--inspector`. */
  readonly inspector: Pick<Inspector, 'onRun'> | undefined
}

export interface StartedControllers {
  /** The controllers that `--controllers` selects. */
  readonly controllers: RunningControllers
  /** The controllers of the API server itself, which always run: its service, endpoints and lease. */
  readonly ownControllers: RunningControllers
}

/** Starts the controllers of the server itself, and the chosen ones where this server may lead. */
export async function startControllers(options: ServeOptions, context: ControllerContext): Promise<StartedControllers> {
  const { components, server, storage, listening, serverAddress, log, inspector } = context
  const { signing } = components
  const { issueLegacy } = components.authentication.accounts.issuer
  const client = createInProcessClient(server, { user: controllerManager, clock: environment.clock })
  if (options.publishClusterInfo) {
    await publishClusterInfo(client, { server: `https://${serverAddress}`, authority: listening.authority })
  }
  const chosen = {
    ...environment,
    client,
    features: components.features,
    controllers: components.controllers,
    available: components.availableControllers,
    bootstrapSigningKey: options.bootstrapSigningKey,
    signerRules: { requireKeyEncipherment: options.requireKeyEncipherment },
    rateLimit: controllersRateLimit,
    onError: (error: unknown) => logControllerError(error, { options, log }),
    ...(inspector === undefined ? {} : { onRun: inspector.onRun }),
    ...(signing === undefined ? {} : { signing }),
    ...(issueLegacy === undefined ? {} : { legacyToken: issueLegacy }),
    ...(listening.authority === undefined ? {} : { rootCA: listening.authority }),
  }
  const isElected =
    (options.leaderElect ?? storage.refresh !== undefined) && chooseControllers(chosen.available, chosen.controllers).length > 0
  const controllers = runControllers(isElected ? electedControllers(options, { chosen, components, log }) : chosen)
  const ownControllers = runControllers({
    ...environment,
    client: createInProcessClient(server, { user: apiServerUser, clock: environment.clock, internal: true }),
    available: serverControllers(
      serverFacts(options, {
        port: listening.port,
        random: environment.random,
        electsLeaders: electsLeaders(components),
        electionTimes: electionTimes(options),
        hasIdentity: gateEnabled('APIServerIdentity', components.features),
        features: components.features,
        ...(storage.refresh === undefined ? {} : { shared: sharedState(context) }),
      }),
    ),
    fieldManager: 'kube-apiserver',
    paced: false,
    onError: (error) => options.v >= 1 && log.error('an object of the API server itself could not be written; retrying', error),
  })
  return { controllers, ownControllers }
}

interface Election {
  readonly chosen: ControllersOptions
  readonly components: ServerComponents
  readonly log: Log
}

/** Runs the chosen controllers only while this server holds the Lease. */
function electedControllers(options: ServeOptions, { chosen, components, log }: Election): ControllersOptions {
  const identity = `${hostname().toLowerCase()}_${environment.random.uuid()}`
  const versions = { binaryVersion: `${defaultRelease}.0`, emulationVersion: `${options.emulatedVersion ?? defaultRelease}.0` }
  const election: Controller = leaderElection({
    leaseName: options.leaderElectResourceName,
    leaseNamespace: options.leaderElectResourceNamespace,
    ...electionTimes(options),
    identity,
    ...(electsLeaders(components) ? { coordinated: versions } : {}),
    lead: () => runControllers(chosen),
    onNewLeader: (leader) => log.info(leader === identity ? 'this server runs the controllers' : `controllers run in ${leader}`),
  })
  return { ...chosen, controllers: ['*'], available: [election] }
}

function electionTimes(options: ServeOptions): LeaderElectionTimes {
  return {
    leaseDurationMs: options.leaderElectLeaseDuration,
    renewDeadlineMs: options.leaderElectRenewDeadline,
    retryPeriodMs: options.leaderElectRetryPeriod,
  }
}

/** @throws CliError for times with which two servers could lead at once */
export function requireElectionTimes(options: ServeOptions): void {
  const { leaderElectLeaseDuration: lease, leaderElectRenewDeadline: deadline, leaderElectRetryPeriod: retry } = options
  const refuse = (message: string) => new CliError({ code: 'InvalidFlag', message })
  if (lease < 1000 || retry < 1) throw refuse('--leader-elect-lease-duration and --leader-elect-retry-period must be positive')
  if (lease <= deadline) throw refuse('--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline')
  if (deadline <= retry * 1.2)
    throw refuse('--leader-elect-renew-deadline must be greater than 1.2 times --leader-elect-retry-period')
}

/** A store that has to be refreshed has other writers. */
function sharedState({ server, storage, log }: ControllerContext): SharedServerState {
  return { addresses: storedAddresses(storage, log), repairAllocations: () => server.registry.repairAllocations() }
}

/** Elections need the API of candidates, which the feature gate does not enable. */
function electsLeaders({ features, catalog }: ServerComponents): boolean {
  const candidates = { group: 'coordination.k8s.io', version: 'v1beta1', resource: 'leasecandidates' }
  return features.enabled('CoordinatedLeaderElection') && catalog.resource(candidates) !== undefined
}

/** Logs requests that are never signed at any verbosity; all other failures are retried. */
function logControllerError(error: unknown, { options, log }: { readonly options: ServeOptions; readonly log: Log }): void {
  if (error instanceof ControllersError && error.code === 'NotSigned') log.error(error.message)
  else if (options.v >= 1) log.error('a controller failed; retrying', error)
}
