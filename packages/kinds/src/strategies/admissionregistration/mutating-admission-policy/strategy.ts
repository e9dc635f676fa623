/** MutatingAdmissionPolicy and MutatingAdmissionPolicyBinding. */
import type { DeepReadonly } from '@krmkit/meta'
import { trimSpace } from '@krmkit/meta/go-text'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import { cel } from '@krmkit/schema'
import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '../../../types/admissionregistration-v1alpha1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { raiseGeneration, startGeneration, validateMetadata } from '../../shared/metadata.ts'
import type { Steps } from '../../shared/steps.ts'
import { defineStrategy, validateStepsWith } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { loadCel } from '../admission-expressions.ts'
import { defaultMatchResources, validateMatchResources } from '../match-resources.ts'
import { compilePolicyExpression, type PolicyEnvironment, validateParamRef, validatePolicySpec } from '../policy-members.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'UPDATE']
const patchTypes = ['ApplyConfiguration', 'JSONPatch']
const reinvocationPolicies = ['IfNeeded', 'Never']

type Policy = DeepReadonly<MutatingAdmissionPolicy>

function* validatePolicy(policy: Policy, old: Policy | undefined, errors: ContextErrorList): Steps {
  yield* validateMetadata(policy, errors, { namespaced: false, bareFinalizers: true })
  const at = errors.child('spec')
  const spec: R<MutatingAdmissionPolicySpec> = policy.spec ?? {}
  const environment = validatePolicySpec(spec, old === undefined ? undefined : (old.spec ?? {}), at, {
    stored: expressionsOf(old),
    validateConstraints: validateOperations,
  })
  const mutations = spec.mutations ?? []
  if (mutations.length === 0) at.child('mutations').required('mutations must contain at least one item')
  for (const [i, mutation] of mutations.entries()) validateMutation(mutation, at.child('mutations').index(i), environment)
  if (isEmpty(spec.reinvocationPolicy)) at.child('reinvocationPolicy').required()
  else validateEnum(spec.reinvocationPolicy, at.child('reinvocationPolicy'), reinvocationPolicies)
}

/** A deletion has no object to change. */
function validateOperations({ resourceRules }: R<MatchResources>, at: FieldPath): void {
  for (const rule of resourceRules ?? []) {
    for (const operation of rule.operations ?? [])
      validateEnum(operation, at.child('resourceRules').child('operations'), operations)
  }
}

function expressionsOf(old: Policy | undefined): ReadonlySet<string> {
  const { variables = [], mutations = [], matchConditions = [] } = old?.spec ?? {}
  return new Set([
    ...variables.map(({ expression }) => expression),
    ...mutations.flatMap((each) => [each.applyConfiguration?.expression ?? '', each.jsonPatch?.expression ?? '']),
    ...matchConditions.map(({ expression }) => trimSpace(expression)),
  ])
}

function validateMutation(
  { patchType = '', applyConfiguration, jsonPatch }: R<Mutation>,
  at: FieldPath,
  environment: PolicyEnvironment,
) {
  if (patchType === '') {
    at.child('patchType').required()
    return
  }
  if (!patchTypes.includes(patchType)) {
    at.child('patchType').notSupported(patchType, patchTypes)
    return
  }
  const members = { applyConfiguration, jsonPatch }
  const [own, other] =
    patchType === 'JSONPatch' ? (['jsonPatch', 'applyConfiguration'] as const) : (['applyConfiguration', 'jsonPatch'] as const)
  const given = members[own]
  if (isSet(given)) validateMutationExpression(given.expression, at.child(own).child('expression'), { own, environment })
  else at.child(own).required(`must be specified when patchType is ${patchType}`)
  if (isSet(members[other])) at.child(other).invalid(`{${other}}`, `must not be specified when patchType is ${patchType}`)
}

function validateMutationExpression(
  expression: string | undefined,
  at: FieldPath,
  { own, environment }: { own: 'jsonPatch' | 'applyConfiguration'; environment: PolicyEnvironment },
): void {
  const text = trimSpace(expression ?? '')
  if (text === '') {
    at.required()
    return
  }
  const { engine } = cel()
  const mutation = own === 'jsonPatch' ? engine.listOf(engine.jsonPatchOperationType) : engine.applyConfigurationType
  compilePolicyExpression(text, at, { environment, mutation })
}

export const mutatingAdmissionPolicyStrategy = defineStrategy<MutatingAdmissionPolicy>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    policy.spec ??= {}
    policy.spec.failurePolicy ??= 'Fail'
    defaultMatchResources(policy.spec.matchConstraints)
  },
  prepareForCreate: startGeneration,
  *prepareForUpdate(policy, old) {
    yield* raiseGeneration(policy, old, 'spec')
  },
  ready: loadCel,
  validate(policy, context) {
    return validateStepsWith(context, (errors) => validatePolicy(policy, undefined, errors))
  },
  validateUpdate(policy, old, context) {
    return validateStepsWith(context, (errors) => validatePolicy(policy, old, errors))
  },
})

function* validateBinding(binding: DeepReadonly<MutatingAdmissionPolicyBinding>, errors: ContextErrorList): Steps {
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
  *prepareForUpdate(binding, old) {
    yield* raiseGeneration(binding, old, 'spec')
  },
  validate(binding, context) {
    return validateStepsWith(context, (errors) => validateBinding(binding, errors))
  },
  validateUpdate(binding, _old, context) {
    return validateStepsWith(context, (errors) => validateBinding(binding, errors))
  },
})
