import { randomInt } from 'node:crypto'
import type { EtcdClient } from './etcd-client.ts'

/** A lease is shared for a twentieth of its time, but no longer than this. */
const longestSharingSeconds = 60
const sharedFraction = 0.05
/** Keys that share one lease at most. */
const maxKeys = 1000
/** Identifiers fit a double. */
const maxId = 2 ** 48 - 1

interface SharedLease {
  readonly id: Promise<number>
  readonly expiresMs: number
  keys: number
}

/** Leases for keys with a limited lifetime. Keys written within a minute share one, as on kube-apiserver: leases are costly. */
export class Leases {
  readonly #client: Pick<EtcdClient, 'grantLease'>
  readonly #now: () => number
  /** By lifetime. */
  readonly #last = new Map<number, SharedLease>()

  /** @param now milliseconds of a clock that is never set back: a lease would be used after its end */
  constructor(client: Pick<EtcdClient, 'grantLease'>, now: () => number = () => performance.now()) {
    this.#client = client
    this.#now = now
  }

  /** A lease that ends after this time or up to a minute later. */
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
