import type { ServerAddresses } from '@krmkit/controllers'
import type { Storage } from '@krmkit/storage'
import type { Log } from '../log.ts'

/** Where kube-apiservers announce themselves, in objects that etcd removes when they are not renewed. */
const prefix = '/core/masterleases/'

interface Announcement {
  readonly kind: 'Endpoints'
  readonly apiVersion: 'v1'
  /** A renewal has to change the object. */
  readonly metadata: { readonly generation: number; readonly resourceVersion: string }
  readonly subsets: readonly { readonly addresses: readonly { readonly ip: string }[] }[]
}

/**
 * The addresses by which the servers on one store, stock ones included, announce themselves. An address that cannot be removed expires,
 * as that of a server that was killed: it is logged, and the server ends.
 */
export function storedAddresses(storage: Storage, log: Log): ServerAddresses {
  return {
    async list() {
      const { entries } = await storage.list({ prefix })
      return entries.flatMap(({ value }) => addressOf(value) ?? [])
    },
    async renew(address) {
      for (;;) {
        const current = storage.peek(prefix + address)
        const generation = (current === undefined ? 0 : (parse(current.value).metadata?.generation ?? 0)) + 1
        const encode = (revision: number) => encodeAnnouncement(address, { generation, resourceVersion: String(revision) })
        const { outcome } = await storage.put(prefix + address, encode, { expect: current?.revision ?? 0 })
        if (outcome === 'written') return
      }
    },
    async remove(address) {
      const current = storage.peek(prefix + address)
      if (current === undefined) return
      try {
        await storage.delete(prefix + address, () => current.value)
      } catch (error) {
        log.error(`the address ${address} of this server could not be removed from the storage; it expires`, error)
      }
    },
  }
}

function parse(value: Uint8Array): Partial<Announcement> {
  return JSON.parse(new TextDecoder().decode(value)) as Partial<Announcement>
}

function addressOf(value: Uint8Array): string | undefined {
  return parse(value).subsets?.[0]?.addresses?.[0]?.ip
}

function encodeAnnouncement(ip: string, metadata: Announcement['metadata']): Uint8Array {
  const object: Announcement = { kind: 'Endpoints', apiVersion: 'v1', metadata, subsets: [{ addresses: [{ ip }] }] }
  return new TextEncoder().encode(JSON.stringify(object))
}
