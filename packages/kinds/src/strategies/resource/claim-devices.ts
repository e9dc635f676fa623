import type { DeviceClaim, ResourceClaimSpec } from '../../types/resource-v1beta1.generated.ts'
import type { R } from '../shared/values.ts'

const noDevices: R<DeviceClaim> = {}

/** The devices of a claim specification; none if they are absent. */
export function devicesOf(spec: R<ResourceClaimSpec> | undefined): R<DeviceClaim> {
  return spec?.devices ?? noDevices
}
