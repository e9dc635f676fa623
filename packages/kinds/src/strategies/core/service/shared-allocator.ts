import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { AllocationProblem, Grant, SharedAllocations } from '../../../allocation-types.ts'
import type { Allocator, AllocatorEnvironment, ServiceNetwork, StrategyContext } from '../../../interfaces.ts'
import type { Service } from '../../../types/core-v1.generated.ts'
import { allocateService, type ServiceUse, serviceHoldings } from './allocation.ts'
import type { ServiceIndex } from './service-index.ts'
import { SharedRange } from './shared-range.ts'
import { addressRange, canonicalAddress, portRange } from './value-range.ts'

/** Attempts to take free values while other servers take the same ones. */
const maxAttempts = 100

/** The stored ranges of addresses, in the order of the ranges of the network. */
const addressRangeNames = ['serviceips', 'secondaryserviceips']

export interface SharedEnvironment extends AllocatorEnvironment {
  readonly shared: SharedAllocations
  readonly network: ServiceNetwork
}

/** Values of one service: canonical addresses, and ports without protocol. */
interface Holdings {
  readonly addresses: readonly string[]
  readonly ports: readonly string[]
}

/**
 * Assigns addresses and ports that other servers, stock ones included, may assign at the same time. A value is chosen from the known
 * state, then taken in the records that kube-apiserver uses: bitmaps of ranges, and one IPAddress for each address. When another
 * server was first, another value is chosen.
 */
export class SharedServiceAllocator implements Allocator<Service> {
  readonly isOrdered = false
  readonly #index: ServiceIndex
  readonly #environment: SharedEnvironment
  readonly #ports: SharedRange
  /** Empty where addresses are recorded as objects alone. */
  readonly #addresses: readonly SharedRange[]
  readonly #hasObjects: boolean

  constructor(index: ServiceIndex, environment: SharedEnvironment) {
    const { features, network, shared } = environment
    this.#index = index
    this.#environment = environment
    this.#hasObjects = gateEnabled('MultiCIDRServiceAllocator', features)
    this.#ports = new SharedRange(shared, 'servicenodeports', portRange(network.nodePorts))
    const isRecorded = !this.#hasObjects || !gateEnabled('DisableAllocatorDualWrite', features)
    this.#addresses = (isRecorded ? network.ranges : []).flatMap((cidr, i) => {
      const [range, name] = [addressRange(cidr), addressRangeNames[i]]
      return range === undefined || name === undefined ? [] : [new SharedRange(shared, name, range)]
    })
  }

  async allocate(service: Service, old: DeepReadonly<Service> | undefined, context: StrategyContext): Promise<Grant> {
    const { network } = this.#environment
    const { uid } = (old ?? service).metadata
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      await this.#index.catchUp()
      const chosen = structuredClone(service)
      const moreRanges = this.#index.moreRanges(network)
      const errors = allocateService(chosen, old, { network, use: this.#use(uid), moreRanges, context })
      const isRefused = errors.length > 0
      const [before, after] = [holdingsOf(old), holdingsOf(chosen)]
      const taken = without(after, before)
      if (!isRefused && !context.dryRun && !(await this.#take(taken, chosen))) continue
      if (chosen.spec !== undefined) service.spec = chosen.spec
      if (isRefused || context.dryRun) return { errors }
      return {
        errors,
        commit: () => this.#free(without(before, after), service),
        rollback: () => this.#free(taken, service),
      }
    }
    throw ApiError.internalError('failed to allocate a serviceIP or nodePort: other servers take the same values')
  }

  release(service: DeepReadonly<Service>): Promise<void> {
    return this.#free(holdingsOf(service), service)
  }

  async repair(): Promise<readonly AllocationProblem[]> {
    await this.#index.catchUp()
    const services = [...this.#index.services()]
    for (const range of this.#addresses) await range.repair(services.map((service) => holdingsOf(service).addresses))
    const { range } = this.#ports
    const { unrecorded, repeated } = await this.#ports.repair(services.map((service) => holdingsOf(service).ports))
    const problems: AllocationProblem[] = []
    const seen = new Set<string>()
    for (const object of services) {
      const add = (reason: string, message: string) =>
        problems.push({
          object,
          reason,
          action: 'PortAllocation',
          message,
          reportingController: 'portallocator-repair-controller',
        })
      for (const port of holdingsOf(object).ports) {
        if (range.positionOf(port) === undefined) {
          add('PortOutOfRange', `Port ${port} is not within the port range ${range.text}; please recreate service`)
        } else if (repeated.has(port) && seen.has(port)) {
          add('PortAlreadyAllocated', `Port ${port} was assigned to multiple services; please recreate service`)
        } else if (unrecorded.has(port)) add('PortNotAllocated', `Port ${port} is not allocated; repairing`)
        seen.add(port)
      }
    }
    return problems
  }

  #use(uid: string | undefined): ServiceUse {
    const { addresses, nodePorts } = this.#index.heldByOthers(uid)
    return {
      addresses: {
        has: (value) =>
          addresses.has(value) || addresses.has(canonicalAddress(value)) || this.#addresses.some((range) => range.has(value)),
      },
      nodePorts: { has: (port) => nodePorts.has(port) || this.#ports.has(String(port)) },
    }
  }

  /** Takes all values or none. */
  async #take({ addresses, ports }: Holdings, service: Service): Promise<boolean> {
    const done: Holdings & { addresses: string[]; ports: string[] } = { addresses: [], ports: [] }
    try {
      if (!(await this.#ports.take(ports, () => this.#heldPorts()))) return false
      done.ports.push(...ports)
      for (const address of addresses) {
        if (!(await this.#takeAddress(address, service))) {
          await this.#free(done, service)
          return false
        }
        done.addresses.push(address)
      }
      return true
    } catch (error) {
      await this.#free(done, service)
      throw error
    }
  }

  async #takeAddress(address: string, service: Service): Promise<boolean> {
    for (const range of this.#addresses) if (!(await range.take([address], () => this.#heldAddresses()))) return false
    if (!this.#hasObjects || (await this.#environment.shared.reserve(this.#resource, this.#addressObject(address, service))))
      return true
    for (const range of this.#addresses) await range.free([address])
    return false
  }

  /** The object of an address goes first: while it exists, no server assigns the address. */
  async #free({ addresses, ports }: Holdings, service: DeepReadonly<Service>): Promise<void> {
    if (this.#hasObjects) {
      for (const address of addresses) {
        await this.#environment.shared.release(this.#resource, address, (object) => namesService(object, service))
      }
    }
    for (const range of this.#addresses) await range.free(addresses)
    await this.#ports.free(ports)
  }

  get #resource() {
    return { group: `networking.${this.#environment.profile.apiDomain}`, resource: 'ipaddresses' }
  }

  #addressObject(address: string, { metadata }: Service): ApiObject {
    const { apiDomain, domain } = this.#environment.profile
    const labels = {
      [`ipaddress.${domain}/ip-family`]: address.includes(':') ? 'IPv6' : 'IPv4',
      [`ipaddress.${domain}/managed-by`]: `ipallocator.${apiDomain}`,
    }
    const parentRef = { group: '', resource: 'services', namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
    const object = {
      apiVersion: `networking.${apiDomain}/v1`,
      kind: 'IPAddress',
      metadata: { name: address, labels },
      spec: { parentRef },
    }
    return object
  }

  *#heldAddresses(): Generator<string> {
    for (const service of this.#index.services()) yield* holdingsOf(service).addresses
  }

  *#heldPorts(): Generator<string> {
    for (const service of this.#index.services()) yield* holdingsOf(service).ports
  }
}

function holdingsOf(service: DeepReadonly<Service> | undefined): Holdings {
  if (service === undefined) return { addresses: [], ports: [] }
  const { addresses, nodePorts } = serviceHoldings(service)
  return { addresses: addresses.map(canonicalAddress), ports: [...new Set(nodePorts.map(String))] }
}

function without(all: Holdings, kept: Holdings): Holdings {
  return {
    addresses: all.addresses.filter((address) => !kept.addresses.includes(address)),
    ports: all.ports.filter((port) => !kept.ports.includes(port)),
  }
}

function namesService(object: DeepReadonly<ApiObject>, { metadata }: DeepReadonly<Service>): boolean {
  const { parentRef } = (object as { spec?: { parentRef?: { resource?: string; namespace?: string; name?: string } } }).spec ?? {}
  const { resource, namespace, name } = parentRef ?? {}
  return resource === 'services' && namespace === metadata.namespace && name === metadata.name
}
