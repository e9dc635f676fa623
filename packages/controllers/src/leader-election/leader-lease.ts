import { type Client, resourceType } from '@krmkit/client'
import { ApiError, type Clock } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { LeaderLease } from './election.ts'

export const leases = resourceType<LeaderLease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
})

export interface LeaderLeaseOptions {
  readonly client: Client
  readonly clock: Clock
  readonly fieldManager: string
  readonly namespace: string
  readonly name: string
  readonly identity: string
  /** In milliseconds, a multiple of 1000. */
  readonly leaseDurationMs: number
  /** Whether a coordinated election assigns the Lease. A process then renews the Lease but does not take it. */
  readonly isCoordinated: boolean
}

/**
 * The Lease of a leader. The clocks of the holders may differ, so the times in the Lease are not compared: a Lease is
 * expired when it has not changed for its duration on the local clock.
 *
 *     free or expired --tryHold--> held --tryHold--> renewed --release--> free
 */
export class HeldLease {
  readonly #options: LeaderLeaseOptions
  /** The last observed Lease, and when this version was first observed. */
  #seen: { readonly lease: LeaderLease; readonly atMs: number } | undefined

  constructor(options: LeaderLeaseOptions) {
    this.#options = options
  }

  /** Identity of the last observed holder; empty when the Lease is free. */
  get holder(): string {
    return this.#seen?.lease.spec?.holderIdentity ?? ''
  }

  get isHeld(): boolean {
    return this.holder === this.#options.identity
  }

  get lease(): LeaderLease | undefined {
    return this.#seen?.lease
  }

  /** Takes the Lease if it is free, or renews it. @returns whether it is held. @throws ApiError, ClientError */
  async tryHold(signal: AbortSignal): Promise<boolean> {
    if (this.isHeld && this.#isValid() && this.#mayRenew() && (await this.#tryTake(this.#seen?.lease, signal))) return true
    const { isCoordinated } = this.#options
    const current = await this.#get(signal)
    if (current === undefined) return !isCoordinated && (await this.#tryTake(undefined, signal))
    if (current.metadata.resourceVersion !== this.#seen?.lease.metadata.resourceVersion) this.#see(current)
    if (isCoordinated) {
      if (!this.isHeld || !this.#isValid() || !this.#mayRenew()) return false
    } else if (!this.isHeld && this.holder !== '' && this.#isValid()) return false
    return this.#tryTake(current, signal)
  }

  /**
   * Releases the Lease, if held, so that others can take it at once. @throws ApiError, ClientError: the Lease then stays
   * held until it expires
   */
  async release(signal: AbortSignal): Promise<void> {
    while (this.isHeld && !(await this.#tryRelease(signal))) {
      // A conflict: a renewal that was still in flight was stored first.
      const current = await this.#get(signal)
      if (current === undefined) return
      this.#see(current)
    }
  }

  #tryRelease(signal: AbortSignal): Promise<boolean> {
    const now = formatMicroTime(this.#options.clock.now())
    const { holderIdentity: _held, preferredHolder: _preferred, ...spec } = this.lease?.spec ?? {}
    return this.#tryWrite(this.lease, { ...spec, leaseDurationSeconds: 1, renewTime: now, acquireTime: now }, signal)
  }

  #isValid(): boolean {
    const { lease, atMs = 0 } = this.#seen ?? {}
    return atMs + (lease?.spec?.leaseDurationSeconds ?? 0) * 1000 > this.#options.clock.now()
  }

  /** False when `preferredHolder` is set: a holder that the election replaces lets the Lease expire. */
  #mayRenew(): boolean {
    return !this.#options.isCoordinated || (this.lease?.spec?.preferredHolder ?? '') === ''
  }

  /** @returns false when another write won */
  #tryTake(current: LeaderLease | undefined, signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseDurationMs } = this.#options
    const now = formatMicroTime(clock.now())
    const { acquireTime, holderIdentity, leaseTransitions = 0, ...spec } = current?.spec ?? {}
    const isRenewal = holderIdentity === identity
    return this.#tryWrite(
      current,
      {
        ...spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.round(leaseDurationMs / 1000),
        acquireTime: isRenewal && acquireTime !== undefined ? acquireTime : now,
        renewTime: now,
        leaseTransitions: isRenewal || current === undefined ? leaseTransitions : leaseTransitions + 1,
      },
      signal,
    )
  }

  #get(signal: AbortSignal): Promise<LeaderLease | undefined> {
    const { client, name, namespace } = this.#options
    return ignoreNotFound(client.get(leases, name, { namespace, signal }))
  }

  /** @returns false when another write won */
  async #tryWrite(current: LeaderLease | undefined, spec: LeaderLease['spec'], signal: AbortSignal): Promise<boolean> {
    try {
      await this.#write(current, spec, signal)
      return true
    } catch (error) {
      if (ApiError.is(error) && ['AlreadyExists', 'Conflict', 'NotFound'].includes(error.reason)) return false
      throw error
    }
  }

  async #write(current: LeaderLease | undefined, spec: LeaderLease['spec'], signal: AbortSignal): Promise<void> {
    const { client, fieldManager, name, namespace } = this.#options
    const options = { fieldManager, signal }
    const written =
      current === undefined
        ? await client.create(leases, { metadata: { name, namespace }, spec: spec ?? {} }, options)
        : await client.update(leases, { ...current, spec: spec ?? {} }, options)
    this.#see(written)
  }

  #see(lease: LeaderLease): void {
    this.#seen = { lease, atMs: this.#options.clock.now() }
  }
}
