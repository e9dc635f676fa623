import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { type NodeRequest, refuse } from './node-request.ts'

interface Claim extends ApiObject {
  status?: Record<string, unknown>
}

/** A kubelet reports the capacity of a claim's volume in the status, and changes nothing else. */
export function checkClaim(request: NodeRequest, recoverExpansion: boolean): void {
  const { attributes, object, node } = request
  if (attributes.subresource !== 'status') refuse(request, 'may only update PVC status')
  if (attributes.operation !== 'UPDATE') refuse(request, `unexpected operation ${JSON.stringify(attributes.operation)}`)
  const members = recoverExpansion ? [...reportedMembers, ...recoveryMembers] : reportedMembers
  if (comparable(object, members) !== comparable(attributes.oldObject, members)) {
    refuse(request, `node ${JSON.stringify(node)} may not update fields other than status.quantity and status.conditions`)
  }
}

const reportedMembers = ['capacity', 'conditions', 'currentVolumeAttributesClassName', 'modifyVolumeStatus']

/** Members of the recovery from failed expansions. */
const recoveryMembers = ['allocatedResources', 'allocatedResourceStatuses', 'resizeStatus']

/** The claim without the members that a kubelet may change. */
function comparable(object: DeepReadonly<ApiObject> | undefined, members: readonly string[]): string {
  const claim = structuredClone(object ?? {}) as Partial<Claim>
  if (claim.metadata !== undefined) {
    delete claim.metadata.resourceVersion
    delete claim.metadata.managedFields
  }
  for (const member of members) delete claim.status?.[member]
  return JSON.stringify(claim)
}
