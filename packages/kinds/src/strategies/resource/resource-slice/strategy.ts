import { ResourceSlicePart } from '../../../handles/parts/resource-v1beta1.generated.ts'
import { genericStrategy, specText } from '../../generic/strategy.ts'

export const resourceSliceStrategy = /* @__PURE__ */ genericStrategy({
  part: ResourceSlicePart,
  namespaced: false,
  generation: true,
  selectableFields: {
    'spec.nodeName': (slice) => specText(slice, 'nodeName'),
    'spec.driver': (slice) => specText(slice, 'driver'),
  },
})
