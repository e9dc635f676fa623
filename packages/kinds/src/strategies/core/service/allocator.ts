/** The allocator of cluster addresses and node ports. @see API protocol specification, 2.5 */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AllocationSink, Allocator, AllocatorEnvironment, ServiceNetwork } from '../../../interfaces.ts'
import type { Service } from '../../../types/core-v1.generated.ts'
import { allocateService, serviceHoldings } from './allocation.ts'

interface ServiceRanges {
  readonly spec?: { readonly cidrs?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

const defaultNetwork: ServiceNetwork = { ranges: ['10.0.0.0/24'], nodePorts: { from: 30_000, to: 32_767 } }

/**
 * Assigns addresses from the ranges of the network and from ready ServiceCIDR objects. An index of the assigned values follows the
 * stored services and the IPAddress objects that other owners reserve.
 */
export function createServiceAllocator(environment: AllocatorEnvironment): Allocator<Service> {
  const { profile, serviceNetwork: network = defaultNetwork } = environment
  const networking = `networking.${profile.apiDomain}`
  const holders = new ServiceHolders()
  const reserved = new ReservedAddresses(`ipaddress.${profile.domain}/managed-by`, `ipallocator.${profile.apiDomain}`)
  const ranges = new ReadyRanges()
  const sources = [
    new Source(environment, { group: '', resource: 'services' }, holders),
    new Source(environment, { group: networking, resource: 'ipaddresses' }, reserved),
    new Source(environment, { group: networking, resource: 'servicecidrs' }, ranges),
  ]
  return {
    async allocate(service, old, context) {
      for (const source of sources) await source.catchUp()
      // The new object may name another uid, which validation refuses.
      const { uid } = (old ?? service).metadata
      const takenAddress = holders.heldByOthers('address', uid)
      return allocateService(service, old, {
        network,
        use: {
          addresses: { has: (value) => takenAddress(value) || reserved.has(value) },
          nodePorts: { has: holders.heldByOthers('port', uid) },
        },
        moreRanges: ranges.list().filter((range) => !network.ranges.includes(range)),
        context,
      })
    },
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
    for (const value of values) this.#holders.set(value, service.metadata.uid ?? '')
  }

  remove(service: DeepReadonly<ApiObject>): void {
    const key = keyOf(service)
    for (const value of this.#held.get(key) ?? []) this.#holders.delete(value)
    this.#held.delete(key)
  }

  clear(): void {
    this.#holders.clear()
    this.#held.clear()
  }
}

/** Addresses of IPAddress objects that no service stands behind. */
class ReservedAddresses implements AllocationSink {
  readonly #label: string
  readonly #manager: string
  readonly #addresses = new Set<string>()

  constructor(label: string, manager: string) {
    this.#label = label
    this.#manager = manager
  }

  has(address: string): boolean {
    return this.#addresses.has(address)
  }

  put({ metadata }: DeepReadonly<ApiObject>): void {
    const { name = '', labels = {} } = metadata
    if (labels[this.#label] === this.#manager) this.#addresses.delete(name)
    else this.#addresses.add(name)
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
