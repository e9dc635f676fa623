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
  readonly ttlSeconds: number
  readonly id: Promise<number>
  readonly expiresMs: number
  keys: number
}

/** Leases for keys with a limited lifetime. Keys written within a minute share one, as on the stock server: leases are costly. */
export class Leases {
  readonly #client: Pick<EtcdClient, 'grantLease'>
  readonly #now: () => number
  #last: SharedLease | undefined

  constructor(client: Pick<EtcdClient, 'grantLease'>, now: () => number = Date.now) {
    this.#client = client
    this.#now = now
  }

  /** A lease that ends after this time or up to a minute later. */
  async leaseFor(ttlSeconds: number): Promise<number> {
    const sharing = Math.min(longestSharingSeconds, Math.floor(ttlSeconds * sharedFraction))
    const nowMs = this.#now()
    let lease = this.#last
    const isShareable =
      lease !== undefined &&
      lease.ttlSeconds === ttlSeconds &&
      nowMs + ttlSeconds * 1000 < lease.expiresMs &&
      lease.keys < maxKeys
    if (lease === undefined || !isShareable) {
      const seconds = ttlSeconds + sharing
      const id = this.#client.grantLease(1 + randomInt(maxId - 1), seconds)
      lease = { ttlSeconds, id, expiresMs: nowMs + seconds * 1000, keys: 0 }
      this.#last = lease
      const granted = lease
      id.catch(() => {
        if (this.#last === granted) this.#last = undefined
      })
    }
    lease.keys++
    return lease.id
  }
}
