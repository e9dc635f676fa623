/** Rules of taint rules. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { DeviceTaintRule, DeviceTaintSelector } from '../../../types/resource-v1alpha3.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateDnsLabel, validateDnsSubdomain } from '../../shared/names.ts'
import { creationRules, updateRules } from '../../shared/strategy.ts'
import { isSet, type R } from '../../shared/values.ts'
import { validateDriverName } from '../../shared/volume-network.ts'
import { validatePoolName } from '../names.ts'
import { SelectorChecks, validateSelectors } from '../selectors.ts'
import { validateTaint } from '../taints.ts'

type Rule = DeepReadonly<DeviceTaintRule>
type Selector = R<DeviceTaintSelector> | undefined

function* validateSpec({ spec }: Rule, errors: ContextErrorList, old?: Rule): Work {
  const at = errors.child('spec')
  const selector = spec?.deviceSelector
  if (isSet(selector)) yield* validateDeviceSelector(selector, at.child('deviceSelector'), old?.spec?.deviceSelector)
  validateTaint(spec?.taint ?? {}, at.child('taint'))
}

function* validateDeviceSelector(selector: NonNullable<Selector>, at: FieldPath, old: Selector): Work {
  const { deviceClassName, driver, pool, device, selectors } = selector
  if (isSet(deviceClassName)) validateDnsSubdomain(deviceClassName, at.child('deviceClassName'))
  if (isSet(driver)) validateDriverName(driver, at.child('driver'))
  if (isSet(pool)) validatePoolName(pool, at.child('pool'))
  if (isSet(device)) validateDnsLabel(device, at.child('device'))
  const stored = isSet(old) && (yield* semanticEqual(selectors, old.selectors))
  yield* validateSelectors(selectors, at.child('selectors'), new SelectorChecks(at.errors.context, stored))
}

export const validate = /* @__PURE__ */ creationRules(function* (errors, rule: Rule) {
  yield* validateMetadata(rule, errors, { namespaced: false })
  yield* validateSpec(rule, errors)
})

export const validateUpdate = /* @__PURE__ */ updateRules(function* (errors, rule: Rule, old: Rule) {
  yield* validateMetadataUpdate(rule, old, errors)
  yield* validateSpec(rule, errors, old)
})
