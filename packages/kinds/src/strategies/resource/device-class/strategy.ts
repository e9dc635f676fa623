/** DeviceClass. */
import type { DeviceClass } from '../../../types/resource-v1beta1.generated.ts'
import { raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { deviceStrategy } from '../lazy-rules.ts'

export const deviceClassStrategy = /* @__PURE__ */ deviceStrategy<DeviceClass>('class', {
  prepareForCreate: startGeneration,
  prepareForUpdate: (object, old) => raiseGeneration(object, old, 'spec'),
})
