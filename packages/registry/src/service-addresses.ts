import type { StrategyContext } from '@krmkit/kinds'
import { allocateService, type ResourceDefinition, type ServiceNetwork, serviceHoldings } from '@krmkit/kinds'
import type { ApiObject, FieldError, NamingProfile } from '@krmkit/meta'
import type { Storage, Watcher } from '@krmkit/storage'
import type { FrozenObject } from './interfaces.ts'
import { collectionPrefix } from './keys.ts'
import type { ObjectCache } from './object-cache.ts'

type Service = Parameters<typeof allocateService>[0]

interface ServiceRanges {
  readonly spec?: { readonly cidrs?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

/** Addresses and ports of a cluster that is told nothing else. */
export const defaultServiceNetwork: ServiceNetwork = { ranges: ['10.0.0.0/24'], nodePorts: { from: 30_000, to: 32_767 } }

export interface ServiceAddressesOptions {
  readonly storage: Storage
  readonly parsed: ObjectCache
  readonly network?: ServiceNetwork | undefined
  readonly profile: NamingProfile
  /** Where objects of a resource are stored; undefined for resources that are not served. */
  readonly stored: (group: string, resource: string) => ResourceDefinition | undefined
}

/** A collection that is followed: what becomes of each of its objects; `undefined` when it is gone. */
interface Follower {
  watcher: Watcher | undefined
  readonly take: (key: string, object: FrozenObject | undefined) => void
  readonly clear: () => void
}

/**
 * Hands out cluster addresses and node ports of services: from the ranges of the network, and from those of ServiceCIDR objects that
 * are ready. Who holds what is an index that follows storage, IPAddress objects of other owners included; writes to services go one
 * after the other, so that no address is given twice.
 */
export class ServiceAddresses {
  readonly #options: ServiceAddressesOptions
  readonly #holders = new Map<string, string>()
  readonly #held = new Map<string, readonly string[]>()
  /** Keys of IPAddress objects that no service stands behind, by address. */
  readonly #reserved = new Map<string, string>()
  readonly #moreRanges = new Map<string, readonly string[]>()
  readonly #services: Follower
  readonly #addresses: Follower
  readonly #ranges: Follower
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: ServiceAddressesOptions) {
    this.#options = options
    this.#services = {
      watcher: undefined,
      take: (key, service) => this.#takeService(key, service),
      clear: () => {
        this.#holders.clear()
        this.#held.clear()
      },
    }
    const managed = `ipaddress.${options.profile.domain}/managed-by`
    const manager = `ipallocator.${options.profile.apiDomain}`
    this.#addresses = {
      watcher: undefined,
      take: (key, object) => {
        const address = key.slice(key.lastIndexOf('/') + 1)
        if (object === undefined || object.metadata.labels?.[managed] === manager) this.#reserved.delete(address)
        else this.#reserved.set(address, key)
      },
      clear: () => this.#reserved.clear(),
    }
    this.#ranges = {
      watcher: undefined,
      take: (key, object) => {
        if (object === undefined || !isReady(object)) this.#moreRanges.delete(key)
        else this.#moreRanges.set(key, (object as ServiceRanges).spec?.cidrs ?? [])
      },
      clear: () => this.#moreRanges.clear(),
    }
  }

  concerns({ storage }: ResourceDefinition): boolean {
    return storage.group === '' && storage.resource === 'services'
  }

  /** Runs a write to a service after those before it have ended. */
  inTurn<T>(definition: ResourceDefinition, write: () => Promise<T>): Promise<T> {
    if (!this.concerns(definition)) return write()
    const next = this.#last.then(write, write)
    this.#last = next.catch(() => undefined)
    return next
  }

  /** Gives a prepared service what it lacks. @returns what cannot be granted. */
  async allocate(
    definition: ResourceDefinition,
    service: ApiObject,
    old: FrozenObject | undefined,
    context: StrategyContext,
  ): Promise<FieldError[]> {
    if (!this.concerns(definition)) return []
    await this.#catchUp(definition)
    const own = service.metadata.uid
    const others = (kind: string) => (value: string) => {
      const holder = this.#holders.get(`${kind}/${value}`)
      return holder !== undefined && holder !== own
    }
    const held = others('address')
    const { network = defaultServiceNetwork } = this.#options
    return allocateService(service as unknown as Service, old as Parameters<typeof allocateService>[1], {
      network,
      use: { addresses: { has: (value) => held(value) || this.#reserved.has(value) }, nodePorts: { has: others('port') } },
      moreRanges: [...new Set([...this.#moreRanges.values()].flat())].filter((range) => !network.ranges.includes(range)),
      context,
    })
  }

  async #catchUp(services: ResourceDefinition): Promise<void> {
    const { profile, stored } = this.#options
    const group = `networking.${profile.apiDomain}`
    await this.#follow(services, this.#services)
    await this.#follow(stored(group, 'ipaddresses'), this.#addresses)
    await this.#follow(stored(group, 'servicecidrs'), this.#ranges)
  }

  async #follow(definition: ResourceDefinition | undefined, follower: Follower): Promise<void> {
    if (definition === undefined) return
    const { storage, parsed } = this.#options
    const prefix = collectionPrefix(definition)
    if (follower.watcher === undefined || follower.watcher.ended !== undefined) {
      follower.clear()
      const { entries, revision } = await storage.list({ prefix })
      for (const entry of entries) follower.take(entry.key, parsed.objectOf(entry))
      follower.watcher = storage.watch({ prefix, from: revision })
    }
    for (const event of follower.watcher.take())
      follower.take(event.key, event.type === 'put' ? parsed.objectOf(event.entry) : undefined)
  }

  #takeService(key: string, service: FrozenObject | undefined): void {
    for (const value of this.#held.get(key) ?? []) this.#holders.delete(value)
    this.#held.delete(key)
    if (service === undefined) return
    const { addresses, nodePorts } = serviceHoldings(service as unknown as Parameters<typeof serviceHoldings>[0])
    const values = [...addresses.map((address) => `address/${address}`), ...nodePorts.map((port) => `port/${port}`)]
    this.#held.set(key, values)
    for (const value of values) this.#holders.set(value, service.metadata.uid ?? '')
  }
}

/** Without a condition a range counts as ready: nobody may be there to judge it. */
function isReady(object: FrozenObject): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false
  const ready = (object as ServiceRanges).status?.conditions?.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True'
}
