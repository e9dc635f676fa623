import type { ApiObject } from '@krmkit/meta'
import type { Strategy } from '../../interfaces.ts'
import { deviceClassStrategy } from './device-class/strategy.ts'
import * as classRules from './device-class/validation.ts'
import type { DeviceRules } from './device-strategy.ts'
import { deviceTaintRuleStrategy } from './device-taint-rule/strategy.ts'
import * as taintRules from './device-taint-rule/validation.ts'
import { engineReady } from './engine.ts'
import { resourceClaimStrategy } from './resource-claim/strategy.ts'
import * as claimRules from './resource-claim/validation.ts'
import { resourceClaimTemplateStrategy } from './resource-claim-template/strategy.ts'
import * as templateRules from './resource-claim-template/validation.ts'
import { resourceSliceStrategy } from './resource-slice/strategy.ts'
import * as sliceRules from './resource-slice/validation.ts'

/** The strategies with their rules, for the handles of the kinds: `validate` needs `ready` for expressions only. */

function complete<T extends ApiObject>(strategy: Strategy, { validate, validateUpdate }: DeviceRules<T>): Strategy {
  return {
    ...strategy,
    ready: engineReady,
    validate: (object, context) => validate(object as never, context),
    validateUpdate: (object, old, context) => validateUpdate(object as never, old as never, context),
  }
}

export const completeClaimStrategy: Strategy = /* @__PURE__ */ complete(resourceClaimStrategy, claimRules)
export const completeClassStrategy: Strategy = /* @__PURE__ */ complete(deviceClassStrategy, classRules)
export const completeSliceStrategy: Strategy = /* @__PURE__ */ complete(resourceSliceStrategy, sliceRules)
export const completeTaintRuleStrategy: Strategy = /* @__PURE__ */ complete(deviceTaintRuleStrategy, taintRules)
export const completeTemplateStrategy: Strategy = /* @__PURE__ */ complete(resourceClaimTemplateStrategy, templateRules)
