/** DeviceClass. */
import type { DeviceClass } from '../../../types/resource-v1beta1.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { deviceStrategy } from '../device-strategy.ts'

const lazyRules = /* @__PURE__ */ lazyModule('the rules of device classes', () => import('./validation.ts'))

export const deviceClassStrategy = /* @__PURE__ */ deviceStrategy<DeviceClass>(lazyRules, {
  prepareForCreate: startGeneration,
  prepareForUpdate: (object, old) => raiseGeneration(object, old, 'spec'),
})
