/** The rules that `lazyRules` loads. */
import { validateClass, validateClassUpdate } from './device-class/validation.ts'
import { validateTaintRule, validateTaintRuleUpdate } from './device-taint-rule/validation.ts'
import { validateClaim, validateClaimUpdate } from './resource-claim/validation.ts'
import { validateTemplate, validateTemplateUpdate } from './resource-claim-template/validation.ts'
import { validateSlice, validateSliceUpdate } from './resource-slice/validation.ts'

export { engineReady } from './engine.ts'
export { validateClaimStatusUpdate } from './resource-claim/validation.ts'

export const rules = {
  claim: { validate: validateClaim, validateUpdate: validateClaimUpdate },
  class: { validate: validateClass, validateUpdate: validateClassUpdate },
  slice: { validate: validateSlice, validateUpdate: validateSliceUpdate },
  taintRule: { validate: validateTaintRule, validateUpdate: validateTaintRuleUpdate },
  template: { validate: validateTemplate, validateUpdate: validateTemplateUpdate },
}
