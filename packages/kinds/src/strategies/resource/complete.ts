import type { Strategy } from '../../interfaces.ts'
import { deviceClassStrategy } from './device-class/strategy.ts'
import { deviceTaintRuleStrategy } from './device-taint-rule/strategy.ts'
import { resourceClaimStrategy } from './resource-claim/strategy.ts'
import { resourceClaimTemplateStrategy } from './resource-claim-template/strategy.ts'
import { resourceSliceStrategy } from './resource-slice/strategy.ts'
import { engineReady, rules } from './rules.ts'

/** The strategies with their rules, for the handles of the kinds: `validate` needs `ready` for expressions only. */

function complete(strategy: Strategy, kind: keyof typeof rules): Strategy {
  const { validate, validateUpdate } = rules[kind]
  return {
    ...strategy,
    ready: engineReady,
    validate: (object, context) => validate(object as never, context),
    validateUpdate: (object, old, context) => validateUpdate(object as never, old as never, context),
  }
}

export const completeClaimStrategy: Strategy = /* @__PURE__ */ complete(resourceClaimStrategy, 'claim')
export const completeClassStrategy: Strategy = /* @__PURE__ */ complete(deviceClassStrategy, 'class')
export const completeSliceStrategy: Strategy = /* @__PURE__ */ complete(resourceSliceStrategy, 'slice')
export const completeTaintRuleStrategy: Strategy = /* @__PURE__ */ complete(deviceTaintRuleStrategy, 'taintRule')
export const completeTemplateStrategy: Strategy = /* @__PURE__ */ complete(resourceClaimTemplateStrategy, 'template')
