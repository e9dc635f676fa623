/** The devices that a status allocates. */
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ResourceClaim, ResourceClaimStatus } from '../../../types/resource-v1beta1.generated.ts'
import { isEmpty, type R } from '../../shared/values.ts'
import { deviceId } from '../device-id.ts'

type Claim = DeepReadonly<ResourceClaim>
type Status = R<ResourceClaimStatus>

const noStatus: Status = {}

export function allocatedDevices({ allocation }: Status): Set<string> {
  return new Set(allocation?.devices?.results?.map(deviceId))
}

/** Drops what drivers reported about devices that are not allocated any more. */
export function dropDeallocated(claim: ResourceClaim, old: Claim, features: Features): void {
  const before = old.status ?? noStatus
  const { status } = claim
  if (status?.devices === undefined) return
  if (!gateEnabled('DRAResourceClaimDeviceStatus', features) && isEmpty(before.devices)) return
  const gone = allocatedDevices(before)
  for (const id of allocatedDevices(status)) gone.delete(id)
  status.devices = status.devices.filter((device) => !gone.has(deviceId(device)))
  if (status.devices.length === 0) delete status.devices
}
