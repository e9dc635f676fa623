/** ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goStrings } from '@krmkit/meta/go-text'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../types/admissionregistration-v1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { keepMembers, raiseGeneration, resetStatusMetadata, startGeneration, validateMetadata } from '../../shared/metadata.ts'
import { validateWith as validateAtOnceWith } from '../../shared/strategy.direct.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet } from '../../shared/values.ts'
import { defaultMatchResources, validateMatchResources } from '../match-resources.ts'
import { validateParamRef } from '../param-ref.ts'
import { policyRules } from '../policy-rules.ts'
import { reservedNameWarnings, validateReservedName } from '../static-names.ts'

const rules = /* @__PURE__ */ policyRules(() => import('./validation.ts'))

export const validatingAdmissionPolicyStrategy = defineStrategy<ValidatingAdmissionPolicy>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    policy.spec ??= {}
    policy.spec.failurePolicy ??= 'Fail'
    defaultMatchResources(policy.spec.matchConstraints)
  },
  prepareForCreate(policy) {
    policy.status = {}
    startGeneration(policy)
  },
  *prepareForUpdate(policy, old) {
    yield* keepMembers(policy, old, 'status')
    yield* raiseGeneration(policy, old, 'spec')
  },
  ready: rules.load,
  validate: creationRules(function* (errors, policy) {
    yield* rules.loaded().validateValidatingPolicy(policy, undefined, errors)
    validateReservedName(policy, errors)
  }),
  validateUpdate: updateRules((errors, policy, old) => rules.loaded().validateValidatingPolicy(policy, old, errors)),
  warnings: reservedNameWarnings,
  subresources: {
    status: {
      *prepareForUpdate(policy, old) {
        yield* keepMembers(policy, old, 'spec')
        yield* resetStatusMetadata(policy, old)
      },
      validateUpdate(policy, _old, context) {
        return validateAtOnceWith(context, (errors) => rules.loaded().validatePolicyStatus(policy, errors.child('status')))
      },
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})

const actions = ['Audit', 'Deny', 'Warn']

function* validateBinding(binding: DeepReadonly<ValidatingAdmissionPolicyBinding>, errors: ContextErrorList): Work {
  yield* validateMetadata(binding, errors, { namespaced: false, bareFinalizers: true })
  const at = errors.child('spec')
  const { policyName, paramRef, matchResources, validationActions = [] } = binding.spec ?? {}
  if (isEmpty(policyName)) at.child('policyName').required()
  else at.child('policyName').invalidAll(policyName, validateDns1123Subdomain(policyName))
  if (isSet(paramRef)) validateParamRef(paramRef, at.child('paramRef'))
  validateMatchResources(matchResources, at.child('matchResources'))
  validateActions(validationActions, at.child('validationActions'))
}

function validateActions(list: readonly string[], at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, action] of list.entries()) {
    validateEnum(action, at.index(i), actions)
    if (seen.has(action)) at.index(i).duplicate(action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const printed = goStrings(list).replace('[]string', '[]admissionregistration.ValidationAction')
    const why = '(repeating the same validation failure information in the API response and headers serves no purpose)'
    at.invalidText(printed, `must not contain both Deny and Warn ${why}`)
  }
  if (list.length === 0) at.required('at least one validation action is required')
}

export const validatingAdmissionPolicyBindingStrategy = defineStrategy<ValidatingAdmissionPolicyBinding>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(binding) {
    defaultMatchResources(binding.spec?.matchResources)
  },
  prepareForCreate: startGeneration,
  prepareForUpdate: (binding, old) => raiseGeneration(binding, old, 'spec'),
  validate: creationRules(function* (errors, binding) {
    yield* validateBinding(binding, errors)
    validateReservedName(binding, errors)
  }),
  validateUpdate: updateRules((errors, binding) => validateBinding(binding, errors)),
  warnings: reservedNameWarnings,
})
