/** ResourceSlice. */
import { systemClock } from '@krmkit/meta'
import type { Device, ResourceSlice } from '../../../types/resource-v1beta1.generated.ts'
import type { Device as NewDevice } from '../../../types/resource-v1beta2.generated.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { deviceStrategy } from '../device-strategy.ts'
import { defaultTaint } from '../taint-defaults.ts'

const table: readonly GatedFields[] = [
  { gate: 'DRADeviceTaints', paths: ['spec.devices.*.basic.taints'] },
  {
    gate: 'DRAPartitionableDevices',
    paths: [
      ...['spec.sharedCounters', 'spec.perDeviceNodeSelection'],
      ...['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'].map((member) => `spec.devices.*.basic.${member}`),
    ],
  },
]

/** Older versions show every device with `basic`. */
function defaultDevice(device: Device & NewDevice, version: string, now: number): void {
  if (version !== 'v1beta2') device.basic ??= {}
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
