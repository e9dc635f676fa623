import { DeviceTaintRulePart } from '../../handles/parts/resource-v1alpha3.generated.ts'
import { genericStrategy } from '../generic/strategy.ts'

export const deviceTaintRuleStrategy = /* @__PURE__ */ genericStrategy({
  part: DeviceTaintRulePart,
  namespaced: false,
  generation: true,
})
