import type { Pod } from '@krmkit/kinds/core/v1'
import { chosenContainer } from '@krmkit/kinds/strategies'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { Location } from '../backends/interfaces.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { tunnel } from './forward.ts'
import { isUpgradeRequest } from './forwarded-message.ts'
import { type AddressedNode, kubeletLocation } from './node-location.ts'

/** The options of `exec`, `attach` and `portforward` that are passed to the kubelet. */
interface StreamOptions {
  readonly container?: string
  readonly stdin?: boolean
  readonly stdout?: boolean
  readonly stderr?: boolean
  readonly tty?: boolean
  readonly command?: readonly string[]
  readonly ports?: readonly number[]
}

/**
 * The subresources `exec`, `attach` and `portforward`: tunnels the connection to the kubelet of the pod's node.
 *
 * Differs: kube-apiserver translates version 5 of the WebSocket protocol of `exec` and `attach`, and port forwarding over WebSocket, to
 * SPDY. Here the kubelet gets the request unchanged; kubectl falls back to SPDY when the kubelet refuses it.
 *
 * @throws ApiError
 */
export async function openStream(scope: RequestScope, context: RequestContext, options: StreamOptions): Promise<ApiResponse> {
  const { store, codec, backends, clock, limits } = scope
  const { namespace, name, subresource } = context.info
  const pod = codec.object(await store.get({ namespace, name }, context)) as DeepReadonly<Pod>
  const isPortForward = subresource === 'portforward'
  const container = isPortForward ? '' : `/${chosenContainer(pod, options.container ?? '')}`
  const location = kubeletOf(scope, pod)
  if (location === undefined) throw ApiError.badRequest(`pod ${name} does not have a host assigned`)
  if (!isUpgradeRequest(context.request)) throw ApiError.badRequest('Upgrade request required')
  const path = `/${isPortForward ? 'portForward' : subresource}/${namespace}/${name}${container}`
  const target = { path, query: streamQuery(options) }
  return tunnel(context, { backends, clock, location, target, limitBytes: limits.bodyBytes })
}

/** The kubelet of a pod's node; undefined for a pod without a node. @throws ApiError 404, 500 */
export function kubeletOf({ registry, backends }: RequestScope, { spec }: DeepReadonly<Pod>): Location | undefined {
  const nodeName = spec?.nodeName ?? ''
  if (nodeName === '') return undefined
  const node = registry.reader.get({ group: '', resource: 'nodes' }, '', nodeName)
  // As on kube-apiserver, the error names the resource of the request, pods, with the name of the node.
  if (node === undefined) throw ApiError.notFound({ group: '', resource: 'pods' }, nodeName)
  return kubeletLocation(node as DeepReadonly<AddressedNode>, backends.options.kubelet)
}

/** The parameters of the kubelet, sorted by name. */
function streamQuery({ command = [], ports = [], ...streams }: StreamOptions): string {
  const query = new URLSearchParams()
  for (const each of command) query.append('command', each)
  if (streams.stderr === true) query.append('error', '1')
  if (streams.stdin === true) query.append('input', '1')
  if (streams.stdout === true) query.append('output', '1')
  if (ports.length > 0) query.append('port', ports.join(','))
  if (streams.tty === true) query.append('tty', '1')
  return query.toString()
}
