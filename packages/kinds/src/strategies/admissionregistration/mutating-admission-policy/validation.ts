/** Rules of MutatingAdmissionPolicy. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { trimSpace } from '@krmkit/meta/go-text'
import { cel } from '@krmkit/schema'
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '../../../types/admissionregistration-v1alpha1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { compilePolicyExpression, type PolicyEnvironment, validatePolicySpec } from '../policy-members.ts'
import { validateOperations } from './operations.ts'

const patchTypes = ['ApplyConfiguration', 'JSONPatch']
const reinvocationPolicies = ['IfNeeded', 'Never']

type Policy = DeepReadonly<MutatingAdmissionPolicy>

export function* validateMutatingPolicy(policy: Policy, old: Policy | undefined, errors: ContextErrorList): Work {
  yield* validateMetadata(policy, errors, { namespaced: false, bareFinalizers: true })
  const at = errors.child('spec')
  const spec: R<MutatingAdmissionPolicySpec> = policy.spec ?? {}
  const environment = yield* validatePolicySpec(spec, old === undefined ? undefined : (old.spec ?? {}), at, {
    stored: expressionsOf(old),
    validateConstraints: validateOperations,
  })
  const mutations = spec.mutations ?? []
  if (mutations.length === 0) at.child('mutations').required('mutations must contain at least one item')
  for (const [i, mutation] of mutations.entries()) {
    validateMutation(mutation, at.child('mutations').index(i), environment)
    yield true
  }
  if (isEmpty(spec.reinvocationPolicy)) at.child('reinvocationPolicy').required()
  else validateEnum(spec.reinvocationPolicy, at.child('reinvocationPolicy'), reinvocationPolicies)
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
