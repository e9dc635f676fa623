import { randomInt } from 'node:crypto'
import type { EtcdClient } from './etcd-client.ts'

/**
 * New keys join an existing lease during the first twentieth of its lifetime, and for at most this time. Example: a lease of one hour is
 * shared for one minute.
 */
const longestSharingSeconds = 60
const sharedFraction = 0.05
/** Maximum number of keys that share one lease. */
const maxKeys = 1000
/** Identifiers stay below 2^48, so that a double represents them exactly. */
const maxId = 2 ** 48 - 1

interface SharedLease {
  readonly id: Promise<number>
  readonly expiresMs: number
  keys: number
}

/** Leases for keys with a limited lifetime. As on kube-apiserver, keys written within a minute share a lease, because leases are costly. */
export class Leases {
  readonly #client: Pick<EtcdClient, 'grantLease'>
  readonly #now: () => number
  /** The newest lease by lifetime. */
  readonly #last = new Map<number, SharedLease>()

  /** @param now milliseconds of a monotonic clock; otherwise a lease could be used after its end */
  constructor(client: Pick<EtcdClient, 'grantLease'>, now: () => number = () => performance.now()) {
    this.#client = client
    this.#now = now
  }

  /** The identifier of a lease that ends after `ttlSeconds`, or up to a minute later. */
  async leaseFor(ttlSeconds: number): Promise<number> {
    const sharing = Math.min(longestSharingSeconds, Math.floor(ttlSeconds * sharedFraction))
    const nowMs = this.#now()
    let lease = this.#last.get(ttlSeconds)
    const isShareable = lease !== undefined && nowMs + ttlSeconds * 1000 < lease.expiresMs && lease.keys < maxKeys
    if (lease === undefined || !isShareable) {
      const seconds = ttlSeconds + sharing
      const id = this.#client.grantLease(1 + randomInt(maxId - 1), seconds)
      lease = { id, expiresMs: nowMs + seconds * 1000, keys: 0 }
      this.#last.set(ttlSeconds, lease)
      const granted = lease
      id.catch(() => {
        if (this.#last.get(ttlSeconds) === granted) this.#last.delete(ttlSeconds)
      })
    }
    lease.keys++
    return lease.id
  }
}
