import { DeviceClassPart } from '../../handles/parts/resource-v1beta1.generated.ts'
import { genericStrategy } from '../generic/strategy.ts'

export const deviceClassStrategy = /* @__PURE__ */ genericStrategy({ part: DeviceClassPart, namespaced: false, generation: true })
