import { ResourceSlicePart } from '../../../handles/parts/resource-v1beta1.generated.ts'
import { genericStrategy, specText } from '../../generic/strategy.ts'

export const resourceSliceStrategy = /* @__PURE__ */ genericStrategy({
  part: ResourceSlicePart,
  namespaced: false,
  generation: true,
  gatedFields: [
    { gate: 'DRADeviceTaints', paths: ['spec.devices.*.basic.taints'] },
    {
      gate: 'DRAPartitionableDevices',
      paths: [
        ...['spec.sharedCounters', 'spec.perDeviceNodeSelection'],
        ...['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'].map((member) => `spec.devices.*.basic.${member}`),
      ],
    },
  ],
  selectableFields: {
    'spec.nodeName': (slice) => specText(slice, 'nodeName'),
    'spec.driver': (slice) => specText(slice, 'driver'),
  },
})
