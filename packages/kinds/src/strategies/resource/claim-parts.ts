/** What writes of claims and templates need before their rules are loaded. */
import type { DeviceRequest, ResourceClaimSpec } from '../../types/resource-v1beta1.generated.ts'
import type { DeviceRequest as NewDeviceRequest } from '../../types/resource-v1beta2.generated.ts'
import type { GatedFields } from '../shared/gated-fields.ts'
import { isEmpty, isSet } from '../shared/values.ts'

/** Members behind feature gates. @param at path of the specification of the claim. */
export function claimSpecGates(at: string): readonly GatedFields[] {
  const requests = `${at}.devices.requests.*`
  return [
    { gate: 'DRAPrioritizedList', paths: [`${requests}.firstAvailable`] },
    { gate: 'DRAAdminAccess', paths: [`${requests}.adminAccess`, 'status.allocation.devices.results.*.adminAccess'] },
  ]
}

/** Members of requests whose empty lists make them exact ones. @param at path of the specification @see Strategy.distinctEmpties */
export function claimEmpties(...at: readonly string[]): readonly (readonly string[])[] {
  return ['selectors', 'tolerations'].map((member) => [...at, 'devices', 'requests', member])
}

/** The defaults of a claim specification of any version. */
export function defaultClaimSpec(spec: ResourceClaimSpec | undefined, version: string): void {
  for (const request of spec?.devices?.requests ?? []) defaultRequest(request, version)
}

function defaultRequest(request: DeviceRequest & NewDeviceRequest, version: string): void {
  if (version !== 'v1beta2') {
    // Without a class, a request has alternatives.
    if (!isEmpty(request.deviceClassName)) defaultCount(request)
  } else if (isSet(request.exactly)) defaultCount(request.exactly)
  for (const alternative of request.firstAvailable ?? []) defaultCount(alternative)
}

function defaultCount(wish: { allocationMode?: string; count?: number }): void {
  if (isEmpty(wish.allocationMode)) wish.allocationMode = 'ExactCount'
  if (wish.allocationMode === 'ExactCount' && !wish.count) wish.count = 1
}
