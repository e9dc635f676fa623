/** Allocation of cluster IPs and node ports to services. */

import { parseCIDR, parseIP } from '@krmkit/base/ip'
import type { DeepReadonly, FieldError, Random } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goStrings } from '@krmkit/meta/go-text'
import type { ServiceNetwork, StrategyContext } from '../../../interfaces.ts'
import type { Service, ServicePort, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { formatV4, formatV6, toBigInt } from '../../shared/address-text.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateWith } from '../../shared/strategy.direct.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import {
  defaultIpFamilies,
  hasNodePorts,
  type IpFamily,
  isHeadless,
  needsClusterIp,
  needsHealthCheck,
  needsNodePort,
} from './fields.ts'
import { validateClusterIps } from './validation.ts'

/** Ranges added at run time (ServiceCIDR), of any family; used when those of the network are full. */
export type MoreRanges = readonly string[]

/** Addresses and ports that other services hold. */
export interface ServiceUse {
  readonly addresses: Pick<ReadonlySet<string>, 'has'>
  /** Services share no port, not even for different protocols. */
  readonly nodePorts: Pick<ReadonlySet<number>, 'has'>
}

/** Addresses and ports that one service holds. */
export function serviceHoldings({ spec }: DeepReadonly<Service>): { addresses: string[]; nodePorts: number[] } {
  const addresses: string[] = []
  const nodePorts: number[] = []
  if (!isSet(spec)) return { addresses, nodePorts }
  if (needsClusterIp(spec)) addresses.push(...(spec.clusterIPs ?? []).filter((address) => address !== 'None'))
  for (const port of spec.ports ?? []) if (port.nodePort) nodePorts.push(port.nodePort)
  if (spec.healthCheckNodePort) nodePorts.push(spec.healthCheckNodePort)
  return { addresses, nodePorts }
}

/** What `services` hold, except the service with the given uid. */
export function serviceUse(services: Iterable<DeepReadonly<Service>>, exceptUid?: string): ServiceUse {
  const addresses = new Set<string>()
  const nodePorts = new Set<number>()
  for (const service of services) {
    if (exceptUid !== undefined && service.metadata.uid === exceptUid) continue
    const held = serviceHoldings(service)
    for (const address of held.addresses) addresses.add(address)
    for (const port of held.nodePorts) nodePorts.add(port)
  }
  return { addresses, nodePorts }
}

export interface ServiceAllocation {
  readonly network: ServiceNetwork
  readonly use: ServiceUse
  readonly moreRanges?: MoreRanges
  readonly context: StrategyContext
}

/**
 * Allocates the families, addresses and ports that a prepared service (`prepareForCreate`, `prepareForUpdate`) lacks, and
 * checks those that it requests. Call it before validation; mutates `service`. Concurrent calls may allocate the same address:
 * the caller serializes writes of services.
 *
 * @returns errors of what cannot be allocated; the write is rejected with these errors alone. Of addresses and ports, the first that
 * cannot be allocated ends the allocation.
 */
export function allocateService(
  service: Service,
  old: DeepReadonly<Service> | undefined,
  options: ServiceAllocation,
): FieldError[] {
  const { network, use, moreRanges = [], context } = options
  const { spec: asked } = service
  if (isSet(asked) && asked.type !== 'ExternalName') {
    const kept = old?.spec?.clusterIPs ?? []
    const malformed = validateWith(context, (errors) => validateClusterIps(asked, errors.child('spec'), kept))
    if (malformed.length > 0) return malformed
  }
  const families = network.ranges.map(familyOf)
  const refused = defaultIpFamilies(service, old, { families, context })
  const { spec } = service
  if (refused.length > 0 || !isSet(spec)) return refused
  return validateWith(context, (errors) => {
    const at = errors.child('spec')
    const { random, dryRun = false } = context
    if (needsClusterIp(spec) && !isHeadless(spec))
      allocateAddresses(spec, at, { network, families, use, moreRanges, context, held: addressesOf(old) })
    if (errors.length === 0) allocatePorts(spec, old?.spec, at, { network, use, random, dryRun })
  })
}

interface AddressOptions {
  readonly network: ServiceNetwork
  readonly families: readonly IpFamily[]
  readonly use: ServiceUse
  readonly moreRanges: MoreRanges
  readonly context: StrategyContext
  /** The addresses of the stored service, which validation compares. */
  readonly held: readonly string[]
}

function addressesOf(service: DeepReadonly<Service> | undefined): readonly string[] {
  const { spec } = service ?? {}
  return isSet(spec) && needsClusterIp(spec) ? (spec.clusterIPs ?? []) : []
}

function allocateAddresses(spec: ServiceSpec, at: FieldPath, options: AddressOptions): void {
  const { network, families, moreRanges, held } = options
  const addresses = [...(spec.clusterIPs ?? [])]
  const asked = goStrings(addresses)
  // Validation reports malformed addresses and those that disagree with `clusterIP`.
  if (addresses.some((address) => parseIP(address) === undefined)) return
  if (!isEmpty(spec.clusterIP) && addresses[0] !== spec.clusterIP) return
  if (new Set(spec.ipFamilies).size !== (spec.ipFamilies?.length ?? 0)) return
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    const range = network.ranges[families.indexOf(family as IpFamily)]
    if (range === undefined) continue
    const given = addresses[i]
    if (given !== undefined && held[i] !== undefined) continue
    const ranges = [range, ...moreRanges.filter((more) => familyOf(more) === family)]
    const refused = given === undefined ? undefined : refusalOf(given, ranges, options)
    const granted = given ?? freeAddressOf(ranges, options)
    if (refused !== undefined) at.child('clusterIPs').invalidText(asked, `failed to allocate IP ${given}: ${refused}`)
    else if (granted === undefined) at.child('clusterIPs').invalidText(asked, 'failed to allocate a serviceIP: range is full')
    else addresses[i] = granted
    if (at.errors.length > 0) return
  }
  if (addresses.length === 0) return
  spec.clusterIPs = addresses
  spec.clusterIP = addresses[0] as string
}

/** @returns why a requested address cannot be allocated; `undefined` if it can */
function refusalOf(address: string, ranges: readonly string[], { use, context }: AddressOptions): string | undefined {
  const { dryRun = false, features } = context
  if (!ranges.some((each) => isInside(address, each))) {
    if (!dryRun && gateEnabled('MultiCIDRServiceAllocator', features))
      return 'the provided network does not match the current range'
    return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${ranges.join(', ')}`
  }
  // A dry run reserves nothing, so kube-apiserver does not compare with the addresses in use.
  return !dryRun && use.addresses.has(address) ? 'provided IP is already allocated' : undefined
}

function freeAddressOf(ranges: readonly string[], { use, context }: AddressOptions): string | undefined {
  const { random, dryRun = false } = context
  if (dryRun) return networkAddress(ranges[0] as string)
  return firstOf(ranges, (each) => freeAddress(each, use.addresses, random))
}

function familyOf(range: string): IpFamily {
  return parseCIDR(range)?.address.family === 6 ? 'IPv6' : 'IPv4'
}

function firstOf<T>(ranges: readonly string[], find: (range: string) => T | undefined): T | undefined {
  for (const range of ranges) {
    const found = find(range)
    if (found !== undefined) return found
  }
  return undefined
}

interface PortOptions {
  readonly network: ServiceNetwork
  readonly use: ServiceUse
  readonly random: Random
  readonly dryRun: boolean
}

/** A dry run shows the port after it where none is requested; outside of the usual range, as kube-apiserver does. */
const lastPortBeforeDry = 32_768

function allocatePorts(spec: ServiceSpec, old: R<ServiceSpec> | undefined, at: FieldPath, options: PortOptions): void {
  const pool = new PortPool(options)
  if (hasNodePorts(spec) && !allocateNodePorts(spec, old, at.child('ports'), pool)) return
  if (!needsHealthCheck(spec) || (isSet(old) && needsHealthCheck(old))) return
  const here = at.child('healthCheckNodePort')
  const asked = spec.healthCheckNodePort
  const granted = asked ? pool.grant(asked, here) : pool.next(here)
  if (granted !== undefined) spec.healthCheckNodePort = granted
}

/** @returns false at the first port that cannot be allocated */
function allocateNodePorts(spec: ServiceSpec, old: R<ServiceSpec> | undefined, at: FieldPath, pool: PortPool): boolean {
  const ports: ServicePort[] = spec.ports ?? []
  const isNew = old === undefined
  const kept = new Set((old?.ports ?? []).map(({ nodePort }) => nodePort))
  // Ports of a new service with one number and several protocols share a port of the nodes.
  const shared = new Map<number | undefined, number>()
  const asked = new Map<number | undefined, number>()
  if (isNew) for (const { port, nodePort } of ports) if (nodePort && !asked.has(port)) asked.set(port, nodePort)
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort && !needsNodePort(spec)) continue
    const twin = shared.get(port.port)
    const known = port.nodePort || twin
    if (known !== undefined && (known === twin || kept.has(known))) {
      port.nodePort = known
      continue
    }
    const here = at.index(i).child('nodePort')
    const wanted = port.nodePort || asked.get(port.port)
    const granted = wanted ? pool.grant(wanted, here) : pool.next(here)
    if (granted === undefined) return false
    port.nodePort = granted
    if (isNew && twin === undefined) shared.set(port.port, granted)
    if (!isNew && wanted) kept.add(granted)
  }
  return true
}

/** The ports of the nodes, and those that one request has been granted. */
class PortPool {
  readonly #options: PortOptions
  readonly #granted = new Set<number>()
  #highest: number | undefined
  readonly #free: () => number | undefined

  constructor(options: PortOptions) {
    this.#options = options
    const { network, random, dryRun } = options
    const isFree = (port: number) => !this.#isTaken(port)
    // The ports of a dry run follow the highest one that the request has been granted.
    this.#free = dryRun ? () => (this.#highest ?? lastPortBeforeDry) + 1 : freePorts(network.nodePorts, isFree, random)
  }

  /** @returns the port; `undefined` after an error at `here` */
  grant(port: number, here: FieldPath): number | undefined {
    const { network, dryRun } = this.#options
    const { from, to } = network.nodePorts
    // A dry run reserves nothing, so kube-apiserver does not compare with the range.
    if (!dryRun && (port < from || port > to)) {
      here.invalid(port, `provided port is not in the valid range. The range of valid ports is ${from}-${to}`)
      return undefined
    }
    if (this.#isTaken(port)) {
      here.invalid(port, 'provided port is already allocated')
      return undefined
    }
    return this.#add(port)
  }

  /** @returns any free port; `undefined` after an error at `here` */
  next(here: FieldPath): number | undefined {
    const port = this.#free()
    if (port !== undefined) return this.#add(port)
    here.internal(noFreePort)
    return undefined
  }

  #add(port: number): number {
    this.#granted.add(port)
    this.#highest = Math.max(this.#highest ?? port, port)
    return port
  }

  #isTaken(port: number): boolean {
    return this.#granted.has(port) || this.#options.use.nodePorts.has(port)
  }
}

/** Differs: kube-apiserver responds with 500 and this text. */
const noFreePort = 'failed to allocate a nodePort: range is full'

/** Number of ports tried from a random start before all free ports are counted. */
const portsTried = 32

/** Finds free ports, each from a random start on; `undefined` if there is none. The range is scanned at most once. */
function freePorts(
  { from, to }: ServiceNetwork['nodePorts'],
  isFree: (port: number) => boolean,
  random: Random,
): () => number | undefined {
  const size = to - from + 1
  let left: number[] | undefined
  const fromAll = (): number | undefined => {
    left ??= Array.from({ length: size }, (_, i) => from + i).filter(isFree)
    while (left.length > 0) {
      const [port] = left.splice(number(random, left.length), 1)
      if (port !== undefined && isFree(port)) return port
    }
    return undefined
  }
  const nearby = (): number | undefined => {
    const start = number(random, size)
    for (let i = 0; i < Math.min(size, portsTried); i++) {
      const port = from + ((start + i) % size)
      if (isFree(port)) return port
    }
    return undefined
  }
  return () => (left === undefined ? nearby() : undefined) ?? fromAll()
}

/** A random number from 0 to `limit - 1`. */
function number(random: Random, limit: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.bytes(4)
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) % limit
}

interface Range {
  readonly first: bigint
  readonly size: bigint
  readonly bits: number
}

function readRange(text: string): Range | undefined {
  const range = parseCIDR(text)
  if (range === undefined) return undefined
  const bytes = range.address.family === 4 ? range.address.bytes.slice(-4) : range.address.bytes
  const bits = bytes.length * 8
  const size = 1n << BigInt(bits - range.prefixLength)
  return { first: (toBigInt(bytes) / size) * size, size, bits }
}

function isInside(address: string, range: string): boolean {
  const bounds = readRange(range)
  const parsed = parseIP(address)
  if (bounds === undefined || parsed === undefined) return false
  const bytes = parsed.family === 4 ? parsed.bytes.slice(-4) : parsed.bytes
  if (bytes.length * 8 !== bounds.bits) return false
  const value = toBigInt(bytes)
  // The first address is that of the network, the last one of IPv4 the broadcast address.
  const last = bounds.first + bounds.size - (bounds.bits === 32 ? 1n : 0n)
  return value > bounds.first && value < last
}

/** The address of the network itself, which a dry run gives to every service. */
function networkAddress(range: string): string | undefined {
  const bounds = readRange(range)
  if (bounds === undefined) return undefined
  return bounds.bits === 32 ? formatV4(Number(bounds.first)) : formatV6(bounds.first)
}

/** Maximum number of addresses searched in a range. */
const maxSearched = 65_536n

function freeAddress(range: string, used: Pick<ReadonlySet<string>, 'has'>, random: Random): string | undefined {
  const bounds = readRange(range)
  if (bounds === undefined) return undefined
  const usable = bounds.size - (bounds.bits === 32 ? 2n : 1n)
  const count = usable < maxSearched ? usable : maxSearched
  if (count <= 0n) return undefined
  const size = Number(count)
  const start = number(random, size)
  // IPv4 addresses are exact as plain numbers, which are much faster.
  const first = bounds.bits === 32 ? Number(bounds.first) : undefined
  for (let i = 0; i < size; i++) {
    const offset = 1 + ((start + i) % size)
    const text = first === undefined ? formatV6(bounds.first + BigInt(offset)) : formatV4(first + offset)
    if (!used.has(text)) return text
  }
  return undefined
}
