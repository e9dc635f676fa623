/** DeviceTaintRule. */
import { systemClock } from '@krmkit/meta'
import type { DeviceTaintRule } from '../../../types/resource-v1alpha3.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { isSet } from '../../shared/values.ts'
import { deviceStrategy } from '../device-strategy.ts'
import { defaultTaint } from '../taint-defaults.ts'

const lazyRules = /* @__PURE__ */ lazyModule('the rules of device taint rules', () => import('./validation.ts'))

export const deviceTaintRuleStrategy = /* @__PURE__ */ deviceStrategy<DeviceTaintRule>(lazyRules, {
  defaults({ spec }, _version, _profile, { clock = systemClock } = {}) {
    if (isSet(spec?.taint)) defaultTaint(spec.taint, clock.now())
  },
  prepareForCreate: startGeneration,
  prepareForUpdate: (rule, old) => raiseGeneration(rule, old, 'spec'),
})
