import type { Clock } from '@krmkit/meta'

/** The identity and addresses of a server process. */
export interface ServerFacts {
  /** Name of the Lease: stable across restarts and unique in the cluster. */
  readonly name: string
  /** Identifies the process, in the holder of the Lease. */
  readonly holder: string
  readonly hostname: string
  /** IP address that pods use to reach the server. Absent: it is not an endpoint. */
  readonly address: string | undefined
  readonly port: number
  /** Service CIDRs, primary family first: `10.0.0.0/24`. */
  readonly serviceRanges: readonly string[]
  /** Address of the API service: the first of the primary range. */
  readonly serviceAddress: string
  /** Elects leaders among LeaseCandidate objects: the feature gate CoordinatedLeaderElection. Default false. */
  readonly electsLeaders?: boolean
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
