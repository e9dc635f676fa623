/** ResourceSlice. */
import { systemClock } from '@krmkit/meta'
import type { Device, ResourceSlice } from '../../../types/resource-v1beta1.generated.ts'
import type { Device as NewDevice } from '../../../types/resource-v1beta2.generated.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { nestsRequests } from '../claim-parts.ts'
import { deviceStrategy } from '../device-strategy.ts'
import { defaultTaint } from '../taint-defaults.ts'

/** Paths of members of devices, in `basic` and without it. */
function inDevices(...members: readonly string[]): string[] {
  return members.flatMap((member) => [`spec.devices.*.basic.${member}`, `spec.devices.*.${member}`])
}

const table: readonly GatedFields[] = [
  { gate: 'DRADeviceTaints', paths: inDevices('taints') },
  {
    gate: 'DRAPartitionableDevices',
    paths: [
      ...['spec.sharedCounters', 'spec.perDeviceNodeSelection'],
      ...inDevices('consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'),
    ],
  },
  { gate: 'DRADeviceBindingConditions', paths: inDevices('bindsToNode', 'bindingConditions', 'bindingFailureConditions') },
  {
    gate: 'DRAConsumableCapacity',
    paths: inDevices('allowMultipleAllocations', 'capacity.*.requestPolicy'),
  },
]

/** Older versions show every device with `basic`. */
function defaultDevice(device: Device & NewDevice, version: string, now: number): void {
  if (!nestsRequests(version)) device.basic ??= {}
  for (const taint of (device.basic ?? device).taints ?? []) defaultTaint(taint, now)
}

const lazyRules = /* @__PURE__ */ lazyModule('the rules of resource slices', () => import('./validation.ts'))

export const resourceSliceStrategy = /* @__PURE__ */ deviceStrategy<ResourceSlice>(lazyRules, {
  defaults({ spec }, version, _profile, { clock = systemClock } = {}) {
    for (const device of spec?.devices ?? []) defaultDevice(device, version, clock.now())
  },
  prepareForCreate(slice, { features }) {
    startGeneration(slice)
    dropGatedFields(slice, undefined, { table, features })
  },
  *prepareForUpdate(slice, old, { features }) {
    yield* raiseGeneration(slice, old, 'spec')
    dropGatedFields(slice, old, { table, features })
  },
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
    'spec.driver': ({ spec }) => spec?.driver ?? '',
  },
})
