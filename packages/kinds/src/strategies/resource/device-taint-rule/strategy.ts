/** DeviceTaintRule. */
import { systemClock } from '@krmkit/meta'
import type { DeviceTaintRule } from '../../../types/resource-v1alpha3.generated.ts'
import { raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { isSet } from '../../shared/values.ts'
import { deviceStrategy } from '../lazy-rules.ts'
import { defaultTaint } from '../taint-defaults.ts'

export const deviceTaintRuleStrategy = /* @__PURE__ */ deviceStrategy<DeviceTaintRule>('taintRule', {
  defaults({ spec }, _version, _profile, { clock = systemClock } = {}) {
    if (isSet(spec?.taint)) defaultTaint(spec.taint, clock.now())
  },
  prepareForCreate: startGeneration,
  prepareForUpdate: (rule, old) => raiseGeneration(rule, old, 'spec'),
})
