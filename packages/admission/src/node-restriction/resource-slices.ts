import type { DeepReadonly } from '@krmkit/meta'
import { type NodeRequest, refuse } from './node-request.ts'

/** A kubelet creates resource slices of its node only. */
export function checkResourceSlice(request: NodeRequest): void {
  if (request.attributes.operation !== 'CREATE') return
  const { nodeName } = (request.object as DeepReadonly<{ spec?: { nodeName?: string } }>).spec ?? {}
  if (nodeName !== request.node) refuse(request, 'can only create ResourceSlice with the same NodeName as the requesting node')
}
