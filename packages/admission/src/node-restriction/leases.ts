import { type NodeRequest, nameOf, refuse } from './node-request.ts'

/** A kubelet writes only the lease with its name in the namespace of node leases. */
export function checkLease(request: NodeRequest): void {
  const { attributes, profile } = request
  if (attributes.namespace !== profile.nodeLeaseNamespace) {
    refuse(request, `can only access leases in the ${JSON.stringify(profile.nodeLeaseNamespace)} system namespace`)
  }
  if (nameOf(request) !== request.node) refuse(request, 'can only access node lease with the same name as the requesting node')
}
