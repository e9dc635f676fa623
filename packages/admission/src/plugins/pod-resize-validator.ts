import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile, Quantity } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionPlugin } from '../interfaces.ts'
import type { Pod, ResourceAmounts } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { addTo, amountsOf, podAmounts } from '../resource-amounts.ts'
import { onResource } from '../targets.ts'

interface Node extends ApiObject {
  status?: { allocatable?: ResourceAmounts }
}

const none = /* @__PURE__ */ Quantity.parse('0')

/**
 * Refuses to resize a pod beyond the CPU and memory of its node, or on a node that is not a Linux node. A plugin since 1.36.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podResizeValidator } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const status = { allocatable: { cpu: '4', memory: '8Gi' } }
 * cluster.put({ group: '', resource: 'nodes' }, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status })
 * const pod = (cpu: string, generation: number) => {
 *   const spec = { nodeName: 'n1', containers: [{ name: 'c', resources: { requests: { cpu } } }] }
 *   return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', generation }, spec }
 * }
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const request = { ...pods, operation: 'UPDATE' as const, subresource: 'resize', object: pod('5', 2), oldObject: pod('1', 1) }
 * const result = await admit(request, [podResizeValidator(stockProfile)], cluster)
 * result.status?.details?.causes // [{ reason: 'NodeCapacity' }]
 * ```
 */
export function podResizeValidator({ domain }: NamingProfile): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    handles: onResource('', 'pods', ['UPDATE'], ['resize']),
    validate(object, attributes, { reader }) {
      const pod = object as DeepReadonly<Pod>
      const { nodeName = '' } = pod.spec ?? {}
      if (nodeName === '' || pod.metadata.generation === attributes.oldObject?.metadata.generation) return
      const node = reader.get({ group: '', resource: 'nodes' }, '', nodeName) as DeepReadonly<Node> | undefined
      if (node === undefined) throw forbidden(attributes, object, `node "${nodeName}" not found`)
      const os = node.metadata.labels?.[`${domain}/os`] ?? 'linux'
      if (os !== 'linux') {
        const detail = `pod resize is only supported on linux nodes, node "${nodeName}" is "${os}"`
        throw withCause(forbidden(attributes, object, detail), 'UnsupportedPlatform')
      }
      refuseBeyondNode(pod, node, attributes)
    },
  }
}

function refuseBeyondNode(pod: DeepReadonly<Pod>, node: DeepReadonly<Node>, attributes: AdmissionAttributes): void {
  const requests = podAmounts(pod, 'requests')
  addTo(requests, amountsOf(pod.spec.overhead))
  const allocatable = amountsOf(node.status?.allocatable)
  const lacking = (name: string, numberOf: (amount: Quantity) => bigint): string[] => {
    const [requested = none, available = none] = [requests.get(name), allocatable.get(name)]
    if (requested.compare(available) <= 0) return []
    return [`${name}, requested: ${numberOf(requested)}, allocatable: ${numberOf(available)}`]
  }
  const details = [...lacking('cpu', (amount) => amount.milliValue()), ...lacking('memory', (amount) => amount.value())]
  if (details.length === 0) return
  const detail = `node didn't have enough allocatable resources: ${details.join('; ')}`
  throw withCause(forbidden(attributes, pod, detail), 'NodeCapacity')
}

/** The error with a cause that has only a reason. */
function withCause({ status }: ApiError, reason: string): ApiError {
  const { details } = status
  return new ApiError({ ...status, details: { ...details, causes: [...(details?.causes ?? []), { reason }] } })
}
