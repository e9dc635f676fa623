import { canonicalIP, connectableHost } from '@krmkit/base/ip'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { ProxyTransport } from '@krmkit/protocol'
import { proxyableAddress } from '../backends/addresses.ts'
import type { KubeletOptions, Location, ProxyOptions } from '../backends/interfaces.ts'
import { plainError } from './errors.ts'
import { connectablePort, type TargetId } from './target-id.ts'

/** The fields of a node that its location needs. */
export interface AddressedNode {
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[]
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } }
  }
}

const kubeletPort = 10250
const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

/**
 * The location of a node's kubelet. The host may be a name, and may be this machine.
 *
 * @throws ApiError 500 for a node without a usable address.
 */
export function kubeletLocation(
  { status }: DeepReadonly<AddressedNode>,
  options: KubeletOptions = {},
): Location & { port: number } {
  const addresses = status?.addresses ?? []
  const { preferredAddressTypes = addressTypes } = options
  const host = preferredAddressTypes.flatMap((type) => addresses.find((each) => each.type === type)?.address ?? []).at(0)
  if (host === undefined) {
    const known = addresses.map(({ type = '', address = '' }) => `{${type} ${address}}`).join(' ')
    throw plainError(`no preferred addresses found; known addresses: [${known}]`)
  }
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  return { scheme: 'https', host, port: port > 0 ? port : (options.port ?? kubeletPort), kubelet: true }
}

/**
 * The location of a node: its kubelet, or another port of the same host.
 *
 * @throws ApiError 400, 500
 */
export async function nodeLocation(
  id: string,
  node: DeepReadonly<AddressedNode>,
  { target, options }: { readonly target: TargetId; readonly options: ProxyOptions },
): Promise<Location> {
  const location = kubeletLocation(node, options.kubelet)
  const addresses = (await addressesOf(location.host, options.transport)).map((address) => {
    const proxyable = proxyableAddress(address)
    if (proxyable === undefined) throw ApiError.badRequest('address not allowed')
    return proxyable
  })
  if (target.port === '' || target.port === String(location.port)) return { ...location, addresses }
  const port = connectablePort(target.port, () => ApiError.badRequest(`invalid node request ${goQuote(id)}`))
  return { scheme: target.scheme === '' ? 'http' : target.scheme, host: location.host, port, addresses }
}

/**
 * Resolves and checks the addresses of a host. Connections use these addresses, because a second lookup could return others. @throws
 * ApiError 400
 */
async function addressesOf(host: string, transport: ProxyTransport | undefined): Promise<readonly string[]> {
  const name = connectableHost(host)
  if (name !== undefined && (name.includes(':') || canonicalIP(name) !== undefined)) return [name]
  if (name === undefined || transport?.lookup === undefined) throw ApiError.badRequest(`lookup ${host}: no such host`)
  try {
    return await transport.lookup(name)
  } catch (error) {
    throw ApiError.badRequest(error instanceof Error ? error.message : String(error))
  }
}
