import type { ApiObject, Clock, DeepReadonly, Features } from '@krmkit/meta'
import type { LeaderElectionTimes } from '../leader-election/leader-election.ts'

/** The identity and addresses of a server process. */
export interface ServerFacts {
  /** Name of the Lease: stable across restarts and unique in the cluster. */
  readonly name: string
  /** Identifies the process, in the holder of the Lease. */
  readonly holder: string
  readonly hostname: string
  /** IP address that pods use to reach the server. Absent: the server is not published as an endpoint. */
  readonly address: string | undefined
  readonly port: number
  /** Service CIDRs, primary family first: `10.0.0.0/24`. */
  readonly serviceRanges: readonly string[]
  /** Address of the API service: the first of the primary range. */
  readonly serviceAddress: string
  /** Elects leaders among LeaseCandidate objects: the feature gate CoordinatedLeaderElection. Default false. */
  readonly electsLeaders?: boolean
  /** Durations of the leader election among the servers that elect. */
  readonly electionTimes?: LeaderElectionTimes
  /** Maintains an identity Lease: the feature gate APIServerIdentity. Default true. */
  readonly hasIdentity?: boolean
  /** Maintains the endpoints of the API service. Default true. */
  readonly reconcilesEndpoints?: boolean
  /** The release of the default flow schemas. Default: 1.33. */
  readonly features?: Pick<Features, 'release'>
  /** State shared by servers on one store. Absent: only this server uses the store. */
  readonly shared?: SharedServerState
}

/** State shared by servers on one store. */
export interface SharedServerState {
  /** The addresses by which servers announce themselves. */
  readonly addresses: ServerAddresses
  /** Corrects the record of node ports and cluster addresses. @returns findings to report to users */
  repairAllocations(): Promise<readonly AllocationFinding[]>
}

/** Announced addresses, each of which expires unless its server renews it. */
export interface ServerAddresses {
  list(): Promise<readonly string[]>
  renew(address: string): Promise<void>
  remove(address: string): Promise<void>
}

/** A finding of a repair of allocations about an object. */
export interface AllocationFinding {
  readonly object: DeepReadonly<ApiObject>
  readonly reason: string
  readonly action: string
  readonly message: string
  readonly reportingController: string
}

/** Interval at which the server verifies its objects. */
export const resyncMs = 10_000
/** Age of a Lease above which its server is no longer an endpoint. */
export const maxLeaseAgeMs = 60_000
/** Age of a Lease above which it is deleted. */
export const leaseSeconds = 3600

/** Returns the milliseconds since a MicroTime; infinite without one. */
export function elapsedMs(time: string | undefined, clock: Clock): number {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : clock.now() - at
}
