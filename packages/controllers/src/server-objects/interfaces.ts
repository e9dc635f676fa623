import type { Clock } from '@krmkit/meta'

/** What one server process tells of itself in the cluster that it serves. */
export interface ServerFacts {
  /** Name of its Lease: the same after a restart, another one for each server of the cluster. */
  readonly name: string
  /** This run of it. */
  readonly holder: string
  readonly hostname: string
  /** IP address at which what runs in the cluster reaches it; absent: it is not among the endpoints. */
  readonly address: string | undefined
  readonly port: number
  /** Ranges of cluster addresses, the primary family first: `10.0.0.0/24`. */
  readonly serviceRanges: readonly string[]
  /** The first address of the primary range, at which the service of the API lives. */
  readonly serviceAddress: string
}

/** How often the server looks whether its objects are as they should be. */
export const resyncMs = 10_000
/** A server that has not renewed its Lease for so long is not an endpoint any more. */
export const maxLeaseAgeMs = 60_000
/** Leases that nobody has renewed for so long are removed. */
export const leaseSeconds = 3600

/** Milliseconds since a MicroTime; infinite when there is none. */
export function elapsedMs(time: string | undefined, clock: Clock): number {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : clock.now() - at
}
