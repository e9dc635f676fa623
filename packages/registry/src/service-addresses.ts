import type { PolicyContext } from '@krmkit/kinds'
import { allocateService, type ResourceDefinition, type ServiceNetwork, serviceHoldings } from '@krmkit/kinds'
import type { ApiObject, FieldError } from '@krmkit/meta'
import type { Storage, Watcher } from '@krmkit/storage'
import type { FrozenObject } from './interfaces.ts'
import { collectionPrefix } from './keys.ts'
import type { ParsedObjects } from './stored-object.ts'

type Service = Parameters<typeof allocateService>[0]

/** Addresses and ports of a cluster that is told nothing else. */
export const defaultServiceNetwork: ServiceNetwork = { ranges: ['10.0.0.0/24'], nodePorts: { from: 30_000, to: 32_767 } }

/**
 * Hands out cluster addresses and node ports of services. Who holds what is an index that follows storage; writes to services
 * go one after the other, so that no address is given twice.
 */
export class ServiceAddresses {
  readonly #storage: Storage
  readonly #parsed: ParsedObjects
  readonly #network: ServiceNetwork
  readonly #holders = new Map<string, string>()
  readonly #held = new Map<string, readonly string[]>()
  #watcher: Watcher | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(storage: Storage, parsed: ParsedObjects, network: ServiceNetwork = defaultServiceNetwork) {
    this.#storage = storage
    this.#parsed = parsed
    this.#network = network
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
    context: PolicyContext,
  ): Promise<FieldError[]> {
    if (!this.concerns(definition)) return []
    await this.#catchUp(definition)
    const own = service.metadata.uid
    const others = (kind: string) => ({
      has: (value: string) => {
        const holder = this.#holders.get(`${kind}/${value}`)
        return holder !== undefined && holder !== own
      },
    })
    return allocateService(service as unknown as Service, old as Parameters<typeof allocateService>[1], {
      network: this.#network,
      use: { addresses: others('address'), nodePorts: others('port') },
      context,
    })
  }

  async #catchUp(definition: ResourceDefinition): Promise<void> {
    const prefix = collectionPrefix(definition)
    if (this.#watcher === undefined || this.#watcher.ended !== undefined) {
      this.#holders.clear()
      this.#held.clear()
      const { entries, revision } = await this.#storage.list({ prefix })
      for (const entry of entries) this.#take(entry.key, this.#parsed.objectOf(entry))
      this.#watcher = this.#storage.watch({ prefix, from: revision })
    }
    for (const event of this.#watcher.take())
      this.#take(event.key, event.type === 'put' ? this.#parsed.objectOf(event.entry) : undefined)
  }

  #take(key: string, service: FrozenObject | undefined): void {
    for (const value of this.#held.get(key) ?? []) this.#holders.delete(value)
    this.#held.delete(key)
    if (service === undefined) return
    const { addresses, nodePorts } = serviceHoldings(service as unknown as Parameters<typeof serviceHoldings>[0])
    const values = [...addresses.map((address) => `address/${address}`), ...nodePorts.map((port) => `port/${port}`)]
    this.#held.set(key, values)
    for (const value of values) this.#holders.set(value, service.metadata.uid ?? '')
  }
}
