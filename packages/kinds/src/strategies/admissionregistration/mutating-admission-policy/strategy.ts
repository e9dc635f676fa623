/** MutatingAdmissionPolicy and MutatingAdmissionPolicyBinding. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../../types/admissionregistration-v1alpha1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { raiseGeneration, startGeneration, validateMetadata } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet } from '../../shared/values.ts'
import { defaultMatchResources, validateMatchResources } from '../match-resources.ts'
import { validateParamRef } from '../param-ref.ts'
import { policyRules } from '../policy-rules.ts'
import { reservedNameWarnings, validateReservedName } from '../static-names.ts'
import { validateOperations } from './operations.ts'

const rules = /* @__PURE__ */ policyRules(() => import('./validation.ts'))

export const mutatingAdmissionPolicyStrategy = defineStrategy<MutatingAdmissionPolicy>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    policy.spec ??= {}
    policy.spec.failurePolicy ??= 'Fail'
    defaultMatchResources(policy.spec.matchConstraints)
  },
  prepareForCreate: startGeneration,
  prepareForUpdate: (policy, old) => raiseGeneration(policy, old, 'spec'),
  ready: rules.load,
  validate: creationRules(function* (errors, policy) {
    yield* rules.loaded().validateMutatingPolicy(policy, undefined, errors)
    validateReservedName(policy, errors)
  }),
  validateUpdate: updateRules((errors, policy, old) => rules.loaded().validateMutatingPolicy(policy, old, errors)),
  warnings: reservedNameWarnings,
})

function* validateBinding(binding: DeepReadonly<MutatingAdmissionPolicyBinding>, errors: ContextErrorList): Work {
  yield* validateMetadata(binding, errors, { namespaced: false, bareFinalizers: true })
  const at = errors.child('spec')
  const { policyName, paramRef, matchResources } = binding.spec ?? {}
  if (isEmpty(policyName)) at.child('policyName').required()
  else at.child('policyName').invalidAll(policyName, validateDns1123Subdomain(policyName))
  if (isSet(paramRef)) validateParamRef(paramRef, at.child('paramRef'))
  validateMatchResources(matchResources, at.child('matchResources'))
  if (isSet(matchResources)) validateOperations(matchResources, at.child('matchResources'))
}

export const mutatingAdmissionPolicyBindingStrategy = defineStrategy<MutatingAdmissionPolicyBinding>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(binding) {
    defaultMatchResources(binding.spec?.matchResources)
    if (isSet(binding.spec?.paramRef)) binding.spec.paramRef.parameterNotFoundAction ??= 'Deny'
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
