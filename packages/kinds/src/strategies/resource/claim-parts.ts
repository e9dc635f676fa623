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
    {
      gate: 'DRAAdminAccess',
      paths: [`${requests}.adminAccess`, `${requests}.exactly.adminAccess`, 'status.allocation.devices.results.*.adminAccess'],
    },
    {
      gate: 'DRAConsumableCapacity',
      paths: [
        ...['exactly', 'firstAvailable.*'].map((form) => `${requests}.${form}.capacity`),
        `${at}.devices.constraints.*.distinctAttribute`,
        ...['consumedCapacity', 'shareID'].map((member) => `status.allocation.devices.results.*.${member}`),
        'status.devices.*.shareID',
      ],
    },
  ]
}

/** Members of requests whose empty lists make them exact ones. @param at path of the specification @see Strategy.distinctEmpties */
export function claimEmpties(...at: readonly string[]): readonly (readonly string[])[] {
  const requests = [...at, 'devices', 'requests']
  return ['selectors', 'tolerations'].flatMap((member) => [
    [...requests, member],
    [...requests, 'exactly', member],
  ])
}

/** The defaults of a claim specification of any version. */
export function defaultClaimSpec(spec: ResourceClaimSpec | undefined, version: string): void {
  for (const request of spec?.devices?.requests ?? []) defaultRequest(request, version)
}

/** Whether a version nests the members of plain requests and has those of devices without `basic`. */
export function nestsRequests(version: string): boolean {
  return version === 'v1' || version === 'v1beta2'
}

function defaultRequest(request: DeviceRequest & NewDeviceRequest, version: string): void {
  if (!nestsRequests(version)) {
    // Without a class, a request has alternatives.
    if (!isEmpty(request.deviceClassName)) defaultCount(request)
  } else if (isSet(request.exactly)) defaultCount(request.exactly)
  for (const alternative of request.firstAvailable ?? []) defaultCount(alternative)
}

function defaultCount(wish: { allocationMode?: string; count?: number }): void {
  if (isEmpty(wish.allocationMode)) wish.allocationMode = 'ExactCount'
  if (wish.allocationMode === 'ExactCount' && !wish.count) wish.count = 1
}
