/** Allocation of cluster IPs and node ports to services. */
import type { DeepReadonly, FieldError, Random } from '@krmkit/meta'
import { goStrings } from '@krmkit/meta/go-text'
import { parseCIDR, parseIP } from '@krmkit/meta/ip'
import type { ServiceNetwork, StrategyContext } from '../../../interfaces.ts'
import type { Service, ServicePort, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { formatV4, formatV6, toBigInt } from '../../shared/address-text.ts'
import { protocols } from '../../shared/container-ports.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateWith } from '../../shared/strategy.ts'
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
  /** As `TCP/30000`; one service may use a port with several protocols. */
  readonly nodePorts: Pick<ReadonlySet<string>, 'has'>
}

/** Addresses and ports (`TCP/30000`) that one service holds. */
export function serviceHoldings({ spec }: DeepReadonly<Service>): { addresses: string[]; nodePorts: string[] } {
  const addresses: string[] = []
  const nodePorts: string[] = []
  if (!isSet(spec)) return { addresses, nodePorts }
  if (needsClusterIp(spec)) addresses.push(...(spec.clusterIPs ?? []).filter((address) => address !== 'None'))
  for (const port of spec.ports ?? []) if (port.nodePort) nodePorts.push(portKey(port.protocol, port.nodePort))
  if (spec.healthCheckNodePort) nodePorts.push(portKey('TCP', spec.healthCheckNodePort))
  return { addresses, nodePorts }
}

/** What `services` hold, except the service with the given uid. */
export function serviceUse(services: Iterable<DeepReadonly<Service>>, exceptUid?: string): ServiceUse {
  const addresses = new Set<string>()
  const nodePorts = new Set<string>()
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
 * @returns errors of what cannot be allocated; the write is rejected with these errors alone.
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
      allocateAddresses(spec, at, { network, families, use, moreRanges, random, dryRun, held: addressesOf(old) })
    allocatePorts(spec, old?.spec, at, { network, use, random, dryRun })
  })
}

interface AddressOptions {
  readonly network: ServiceNetwork
  readonly families: readonly IpFamily[]
  readonly use: ServiceUse
  readonly moreRanges: MoreRanges
  readonly random: Random
  readonly dryRun: boolean
  /** The addresses of the stored service, which validation compares. */
  readonly held: readonly string[]
}

function addressesOf(service: DeepReadonly<Service> | undefined): readonly string[] {
  const { spec } = service ?? {}
  return isSet(spec) && needsClusterIp(spec) ? (spec.clusterIPs ?? []) : []
}

function allocateAddresses(spec: ServiceSpec, at: FieldPath, options: AddressOptions): void {
  const { network, families, use, moreRanges, random, dryRun, held } = options
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
    if (given === undefined) {
      const found = dryRun ? networkAddress(range) : firstOf(ranges, (each) => freeAddress(each, use.addresses, random))
      if (found === undefined) at.child('clusterIPs').invalidText(asked, 'failed to allocate a serviceIP: range is full')
      else addresses[i] = found
    } else if (!ranges.some((each) => isInside(given, each))) {
      const detail = `the provided IP (${given}) is not in the valid range. The range of valid IPs is ${ranges.join(', ')}`
      at.child('clusterIPs').invalidText(asked, `failed to allocate IP ${given}: ${detail}`)
    } else if (use.addresses.has(given)) {
      at.child('clusterIPs').invalidText(asked, `failed to allocate IP ${given}: provided IP is already allocated`)
    }
  }
  if (addresses.length === 0) return
  spec.clusterIPs = addresses
  spec.clusterIP = addresses[0] as string
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

/** First port that a dry run shows where none is requested; outside of the usual range, as on the stock server. */
const firstDryPort = 32_769

function allocatePorts(
  spec: ServiceSpec,
  old: R<ServiceSpec> | undefined,
  at: FieldPath,
  { network, use, random, dryRun }: PortOptions,
): void {
  const granted = new Set<string>()
  const taken: TakenPorts = {
    has: (port: string) => granted.has(port) || use.nodePorts.has(port),
    add: (port: string) => granted.add(port),
  }
  const { from, to } = network.nodePorts
  const grant = (port: number, protocol: string | undefined, here: FieldPath): void => {
    // A dry run reserves nothing, so the stock server does not compare with the range.
    if (!dryRun && (port < from || port > to)) {
      here.invalid(port, `provided port is not in the valid range. The range of valid ports is ${from}-${to}`)
    } else if (taken.has(portKey(protocol, port))) here.invalid(port, 'provided port is already allocated')
    else taken.add(portKey(protocol, port))
  }
  const free = dryRun ? dryPorts(granted) : freePorts(network.nodePorts, taken, random)
  if (hasNodePorts(spec)) {
    const kept = new Set((old?.ports ?? []).map((port) => port.nodePort ?? 0))
    const ports: ServicePort[] = spec.ports ?? []
    for (const [i, port] of ports.entries()) {
      if (port.nodePort && !kept.has(port.nodePort)) {
        grant(port.nodePort, port.protocol, at.child('ports').index(i).child('nodePort'))
      }
    }
    for (const [i, port] of ports.entries()) {
      if (port.nodePort || !needsNodePort(spec)) continue
      // Ports of a new service with one number and several protocols share a port of the nodes.
      const twin = old === undefined ? ports.find((other) => other.nodePort && other.port === port.port) : undefined
      const found = twin?.nodePort ?? free(port.protocol)
      if (found === undefined) {
        at.child('ports').index(i).child('nodePort').internal(noFreePort)
        return
      }
      port.nodePort = found
      granted.add(portKey(port.protocol, found))
    }
  }
  if (!needsHealthCheck(spec)) return
  const check = spec.healthCheckNodePort
  if (!check) {
    const found = free('TCP')
    if (found === undefined) at.child('healthCheckNodePort').internal(noFreePort)
    else spec.healthCheckNodePort = found
  } else if (check !== old?.healthCheckNodePort) grant(check, 'TCP', at.child('healthCheckNodePort'))
}

/** The ports that follow the highest one that this request has been granted. */
function dryPorts(granted: Set<string>): (protocol: string | undefined) => number {
  return (protocol) => {
    const held = [...granted].map((key) => Number(key.slice(key.indexOf('/') + 1)))
    const port = held.length === 0 ? firstDryPort : Math.max(...held) + 1
    granted.add(portKey(protocol, port))
    return port
  }
}

/** Differs: the stock server responds with 500 and this text. */
const noFreePort = 'failed to allocate a nodePort: range is full'

/** Number of ports tried from a random start before all free ports are counted. */
const portsTried = 32

interface TakenPorts {
  has(port: string): boolean
  add(port: string): void
}

/**
 * Takes a port free for every protocol, from a random start on; `undefined` if there is none. The range is scanned at most
 * once.
 */
function freePorts(
  { from, to }: ServiceNetwork['nodePorts'],
  taken: TakenPorts,
  random: Random,
): (protocol: string | undefined) => number | undefined {
  const size = to - from + 1
  const isFree = (port: number) => protocols.every((protocol) => !taken.has(portKey(protocol, port)))
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
  return (protocol) => {
    const port = (left === undefined ? nearby() : undefined) ?? fromAll()
    if (port !== undefined) taken.add(portKey(protocol, port))
    return port
  }
}

/** The number of a port such as `TCP/30000`. */
export function portNumberOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

function portKey(protocol: string | undefined, port: number): string {
  return `${protocol ?? 'TCP'}/${port}`
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
