/** DeviceTaintRule. */
import { type ApiObject, systemClock } from '@krmkit/meta'
import { validateConditions } from '@krmkit/meta/validation'
import type { DeviceTaintRule } from '../../../types/resource-v1alpha3.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import {
  keepMembers,
  raiseGeneration,
  resetStatusMetadata,
  startGeneration,
  validateMetadataUpdate,
} from '../../shared/metadata.ts'
import { conditionsOf } from '../../shared/status-kind.ts'
import { updateRules } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'
import { deviceStrategy } from '../device-strategy.ts'
import { defaultTaint } from '../taint-defaults.ts'

const maxConditions = 8

const lazyRules = /* @__PURE__ */ lazyModule('the rules of device taint rules', () => import('./validation.ts'))

export const deviceTaintRuleStrategy = /* @__PURE__ */ deviceStrategy<DeviceTaintRule>(lazyRules, {
  defaults({ spec }, _version, _profile, { clock = systemClock } = {}) {
    if (isSet(spec?.taint)) defaultTaint(spec.taint, clock.now())
  },
  prepareForCreate(rule, { features }) {
    startGeneration(rule)
    // The status came with 1.35.
    if (features.release.atLeast('1.35')) (rule as ApiObject)['status'] = {}
  },
  *prepareForUpdate(rule, old) {
    yield* keepMembers(rule, old, 'status')
    yield* raiseGeneration(rule, old, 'spec')
  },
  subresources: {
    status: {
      *prepareForUpdate(rule, old) {
        yield* keepMembers(rule, old, 'spec')
        yield* resetStatusMetadata(rule, old)
      },
      validateUpdate: updateRules(function* (errors, rule, old) {
        yield* validateMetadataUpdate(rule, old, errors)
        const at = errors.child('status').child('conditions')
        const conditions = conditionsOf(rule)
        at.add(validateConditions(conditions, at.path()))
        if (conditions.length > maxConditions) at.tooMany(conditions.length, maxConditions)
      }),
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
