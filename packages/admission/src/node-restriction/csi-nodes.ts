import { type NodeRequest, nameOf, refuse } from './node-request.ts'

/** A kubelet writes only the CSINode with its name. */
export function checkCsiNode(request: NodeRequest): void {
  if (nameOf(request) !== request.node) refuse(request, 'can only access CSINode with the same name as the requesting node')
}
