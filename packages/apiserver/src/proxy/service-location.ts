import type { ObjectReader } from '@krmkit/admission'
import { ApiError, type ApiObject, type DeepReadonly, type Random } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { proxyableAddress } from '../backends/addresses.ts'
import type { Location } from '../backends/interfaces.ts'
import { parseTargetId } from './target-id.ts'

interface Service extends ApiObject {
  spec?: { ports?: { name?: string; port?: number }[] }
}

interface EndpointAddress {
  ip?: string
  targetRef?: { namespace?: string; name?: string }
}

interface Endpoints extends ApiObject {
  subsets?: { addresses?: EndpointAddress[]; ports?: { name?: string; port?: number }[] }[]
}

interface Pod extends ApiObject {
  status?: { podIPs?: { ip?: string }[] }
}

type Reader = Pick<ObjectReader, 'get'>

export interface ServiceLocationOptions {
  readonly reader: Reader
  readonly random: Pick<Random, 'bytes'>
  readonly namespace: string
}

const services = { group: '', resource: 'services' }

/**
 * The location of a random ready endpoint of a service. `id` is `name`, `name:port` or `scheme:name:port`; the port is a port number of the
 * service or the name of a port of its endpoints. Only endpoints that refer to a pod of the namespace are used, and only when the status of
 * the pod has the address.
 *
 * @throws ApiError 400, 404, 503
 */
export function serviceLocation(id: string, options: ServiceLocationOptions): Location {
  const { reader, namespace } = options
  const { scheme, name, port } = parseTargetId(id, 'service')
  const portName = portNameOf({ name, port }, options)
  const endpoints: DeepReadonly<Endpoints> | undefined = reader.get({ group: '', resource: 'endpoints' }, namespace, name)
  if (endpoints === undefined) throw ApiError.notFound(services, name)
  const { subsets = [] } = endpoints
  if (subsets.length === 0) throw noEndpoints(name)
  for (const { addresses = [], ports = [] } of rotated(subsets, options)) {
    const target = ports.find((each) => (each.name ?? '') === portName)?.port
    if (target === undefined) continue
    for (const address of rotated(addresses, options)) {
      const host = podAddress(address, options)
      if (host !== undefined) return { scheme: scheme === '' ? 'http' : scheme, host, port: target }
    }
  }
  throw noEndpoints(id)
}

/** The name of the port with the given number; a text that is not a number is a port name. @throws ApiError 404, 503 */
function portNameOf(
  { name, port }: { readonly name: string; readonly port: string },
  { reader, namespace }: ServiceLocationOptions,
): string {
  if (!isInteger(port)) return port
  const service: DeepReadonly<Service> | undefined = reader.get(services, namespace, name)
  if (service === undefined) throw ApiError.notFound(services, name)
  const found = (service.spec?.ports ?? []).find((each) => each.port === Number(port))
  if (found === undefined) {
    throw ApiError.serviceUnavailable(`no service port ${BigInt(port)} found for service ${goQuote(name)}`)
  }
  return found.name ?? ''
}

/** Whether a text is a 64-bit decimal integer in the syntax of Go. */
function isInteger(text: string): boolean {
  return /^[+-]?[0-9]{1,400}$/.test(text) && BigInt.asIntN(64, BigInt(unsigned(text))) === BigInt(unsigned(text))
}

function unsigned(text: string): string {
  return text.startsWith('+') ? text.slice(1) : text
}

function podAddress(
  { ip, targetRef }: DeepReadonly<EndpointAddress>,
  { reader, namespace }: ServiceLocationOptions,
): string | undefined {
  if (ip === undefined || targetRef?.namespace !== namespace) return undefined
  const pod: DeepReadonly<Pod> | undefined = reader.get({ group: '', resource: 'pods' }, namespace, targetRef.name ?? '')
  return (pod?.status?.podIPs ?? []).some((each) => each.ip === ip) ? proxyableAddress(ip) : undefined
}

function noEndpoints(service: string): ApiError {
  return ApiError.serviceUnavailable(`no endpoints available for service ${goQuote(service)}`)
}

/** The items in order, starting at a random one and wrapping around. */
function rotated<T>(items: readonly T[], { random }: ServiceLocationOptions): readonly T[] {
  if (items.length < 2) return items
  const [a = 0, b = 0, c = 0] = random.bytes(3)
  const start = ((a << 16) | (b << 8) | c) % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
