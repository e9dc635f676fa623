/** What services hold, and where addresses come from, as stored objects show it. */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AllocationSink } from '../../../allocation-types.ts'
import type { AllocatorEnvironment, ServiceNetwork } from '../../../interfaces.ts'
import type { Service } from '../../../types/core-v1.generated.ts'
import { type MoreRanges, type ServiceUse, serviceHoldings } from './allocation.ts'

interface ServiceRanges {
  readonly spec?: { readonly cidrs?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

export class ServiceIndex {
  readonly #holders = new ServiceHolders()
  readonly #reserved: ReservedAddresses
  readonly #ranges = new ReadyRanges()
  readonly #sources: readonly Source[]

  /** @param ownAddressesCount whether addresses of IPAddress objects that stand for services are in use too */
  constructor(environment: AllocatorEnvironment, { ownAddressesCount }: { readonly ownAddressesCount: boolean }) {
    const { profile } = environment
    const networking = `networking.${profile.apiDomain}`
    const label = `ipaddress.${profile.domain}/managed-by`
    const manager = `ipallocator.${profile.apiDomain}`
    this.#reserved = new ReservedAddresses(({ metadata }) => ownAddressesCount || metadata.labels?.[label] !== manager)
    this.#sources = [
      new Source(environment, { group: '', resource: 'services' }, this.#holders),
      new Source(environment, { group: networking, resource: 'ipaddresses' }, this.#reserved),
      new Source(environment, { group: networking, resource: 'servicecidrs' }, this.#ranges),
    ]
  }

  /** Resolves when the index reflects the newest known state. */
  async catchUp(): Promise<void> {
    for (const source of this.#sources) await source.catchUp()
  }

  services(): Iterable<DeepReadonly<Service>> {
    return this.#holders.services.values()
  }

  /** Values that are in use, except those of the service with the given uid. */
  heldByOthers(uid: string | undefined): ServiceUse {
    const takenAddress = this.#holders.heldByOthers('address', uid)
    const takenPort = this.#holders.heldByOthers('port', uid)
    return {
      addresses: { has: (value) => takenAddress(value) || this.#reserved.has(value) },
      nodePorts: { has: (port) => takenPort(String(port)) },
    }
  }

  /** Ranges of the ServiceCIDR objects that are ready, beside those of the network. */
  moreRanges(network: ServiceNetwork): MoreRanges {
    return this.#ranges.list().filter((range) => !network.ranges.includes(range))
  }
}

/** A collection that is followed from the first allocation on. */
class Source {
  readonly #follow: () => Promise<(() => Promise<void>) | undefined>
  #catchUp: (() => Promise<void>) | undefined

  constructor(
    environment: AllocatorEnvironment,
    resource: { readonly group: string; readonly resource: string },
    sink: AllocationSink,
  ) {
    this.#follow = () => environment.follow(resource, sink)
  }

  async catchUp(): Promise<void> {
    if (this.#catchUp === undefined) this.#catchUp = await this.#follow()
    else await this.#catchUp()
  }
}

/** The uid of the service that holds each address and port. */
class ServiceHolders implements AllocationSink {
  readonly #holders = new Map<string, string>()
  readonly #held = new Map<string, readonly string[]>()

  readonly services = new Map<string, DeepReadonly<Service>>()

  heldByOthers(kind: 'address' | 'port', uid: string | undefined): (value: string) => boolean {
    return (value) => {
      const holder = this.#holders.get(`${kind}/${value}`)
      return holder !== undefined && holder !== uid
    }
  }

  put(service: DeepReadonly<ApiObject>): void {
    this.remove(service)
    const { addresses, nodePorts } = serviceHoldings(service as DeepReadonly<Service>)
    const values = [...addresses.map((address) => `address/${address}`), ...nodePorts.map((port) => `port/${port}`)]
    this.#held.set(keyOf(service), values)
    this.services.set(keyOf(service), service as DeepReadonly<Service>)
    for (const value of values) this.#holders.set(value, service.metadata.uid ?? '')
  }

  remove(service: DeepReadonly<ApiObject>): void {
    const key = keyOf(service)
    for (const value of this.#held.get(key) ?? []) this.#holders.delete(value)
    this.#held.delete(key)
    this.services.delete(key)
  }

  clear(): void {
    this.#holders.clear()
    this.#held.clear()
    this.services.clear()
  }
}

/** Addresses of IPAddress objects: all, or those that no service stands behind. */
class ReservedAddresses implements AllocationSink {
  readonly #isCounted: (object: DeepReadonly<ApiObject>) => boolean
  readonly #addresses = new Set<string>()

  constructor(isCounted: (object: DeepReadonly<ApiObject>) => boolean) {
    this.#isCounted = isCounted
  }

  has(address: string): boolean {
    return this.#addresses.has(address)
  }

  put(object: DeepReadonly<ApiObject>): void {
    const { name = '' } = object.metadata
    if (this.#isCounted(object)) this.#addresses.add(name)
    else this.#addresses.delete(name)
  }

  remove({ metadata }: DeepReadonly<ApiObject>): void {
    this.#addresses.delete(metadata.name ?? '')
  }

  clear(): void {
    this.#addresses.clear()
  }
}

/** Ranges of the ServiceCIDR objects that are ready. */
class ReadyRanges implements AllocationSink {
  readonly #ranges = new Map<string, readonly string[]>()

  list(): readonly string[] {
    return [...new Set([...this.#ranges.values()].flat())]
  }

  put(object: DeepReadonly<ApiObject>): void {
    if (isReady(object)) this.#ranges.set(keyOf(object), (object as ServiceRanges).spec?.cidrs ?? [])
    else this.remove(object)
  }

  remove(object: DeepReadonly<ApiObject>): void {
    this.#ranges.delete(keyOf(object))
  }

  clear(): void {
    this.#ranges.clear()
  }
}

/** A range without the condition counts as ready: the controller that sets it may not run. */
function isReady(object: DeepReadonly<ApiObject>): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false
  const ready = (object as ServiceRanges).status?.conditions?.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True'
}

function keyOf({ metadata }: DeepReadonly<ApiObject>): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}
