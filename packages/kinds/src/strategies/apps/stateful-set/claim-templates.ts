/** Claim templates of stateful sets. */
import type { PersistentVolumeClaim } from '../../../types/core-v1.generated.ts'
import { roundUp } from '../../shared/round-up.direct.ts'
import { isEmpty } from '../../shared/values.ts'

/** Applies the defaults of a whole claim, which a template is. */
export function defaultClaimTemplate(claim: PersistentVolumeClaim): void {
  claim.apiVersion = 'v1'
  claim.kind = 'PersistentVolumeClaim'
  claim.spec ??= {}
  claim.spec.volumeMode ??= 'Filesystem'
  roundUp(claim.spec.resources?.limits)
  roundUp(claim.spec.resources?.requests)
  claim.status ??= {}
  roundUp(claim.status.capacity)
  roundUp(claim.status.allocatedResources)
  if (isEmpty(claim.status.phase)) claim.status.phase = 'Pending'
}
