import { ApiError, type DeepReadonly } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { proxyableAddress } from '../backends/addresses.ts'
import type { Location } from '../backends/interfaces.ts'
import { connectablePort, type TargetId } from './target-id.ts'

/** The fields of a pod that its location needs. */
export interface AddressedPod {
  readonly spec?: { readonly containers?: readonly { readonly ports?: readonly { readonly containerPort?: number }[] }[] }
  readonly status?: { readonly podIPs?: readonly { readonly ip?: string }[] }
}

/**
 * The location of a pod: its first address, and the requested port or the first one that its containers declare.
 *
 * Differs: kube-apiserver drops the connection of a request with a port name; here such a request fails with 400.
 *
 * @throws ApiError 400
 */
export function podLocation(id: string, target: TargetId, { spec, status }: DeepReadonly<AddressedPod>): Location {
  const host = proxyableAddress(status?.podIPs?.[0]?.ip ?? '')
  if (host === undefined) throw ApiError.badRequest('address not allowed')
  const declared = (spec?.containers ?? []).find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort
  const port = target.port === '' ? declared : connectablePort(target.port, () => invalidPod(id))
  return { scheme: target.scheme === '' ? 'http' : target.scheme, host, port }
}

function invalidPod(id: string): ApiError {
  return ApiError.badRequest(`invalid pod request ${goQuote(id)}`)
}
