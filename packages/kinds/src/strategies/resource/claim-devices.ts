import type { DeviceClaim, DeviceRequest, ResourceClaimSpec } from '../../types/resource-v1beta1.generated.ts'
import type { DeviceRequest as NewDeviceRequest } from '../../types/resource-v1beta2.generated.ts'
import { isSet, type R } from '../shared/values.ts'

const noDevices: R<DeviceClaim> = {}

/** The devices of a claim specification, with requests in the form of `v1beta1`; none if they are absent. */
export function devicesOf(spec: R<ResourceClaimSpec> | undefined): R<DeviceClaim> {
  const devices = spec?.devices
  if (!isSet(devices)) return noDevices
  const { requests } = devices
  return requests?.some(isNested) === true ? { ...devices, requests: requests.map(flatRequest) } : devices
}

type AnyRequest = R<DeviceRequest> & R<NewDeviceRequest>

function isNested(request: R<DeviceRequest>): boolean {
  return isSet((request as AnyRequest).exactly)
}

/** `v1beta2` and `v1` nest the members of a plain request in `exactly`. An empty one has empty selectors, which make the request exact. */
function flatRequest(request: R<DeviceRequest>): R<DeviceRequest> {
  const { exactly, ...rest } = request as AnyRequest
  return isSet(exactly) ? { ...rest, ...exactly, selectors: exactly.selectors ?? [] } : request
}
