/** PodDisruptionBudget. */
import type { DeepReadonly } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import { validateConditions } from '@krmkit/meta/validation'
import type { PodDisruptionBudget } from '../../../types/policy-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goPointer, goStruct } from '../../shared/go-form.ts'
import { validateAtMostAll, validateIntOrPercent } from '../../shared/int-or-percent.ts'
import { validateSelector } from '../../shared/labels.direct.ts'
import { keepMembers, raiseGeneration, startGeneration } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { validateWith } from '../../shared/strategy.direct.ts'
import { defineStrategy } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

function validateBudget(budget: DeepReadonly<PodDisruptionBudget>, errors: ContextErrorList): void {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = budget.spec ?? {}
  const at = errors.child('spec')
  if (isSet(minAvailable) && isSet(maxUnavailable)) {
    const printed = goStruct('policy.PodDisruptionBudgetSpec', {
      MinAvailable: goPointer(minAvailable, 'intstr.IntOrString'),
      Selector: goPointer(selector, 'v1.LabelSelector'),
      MaxUnavailable: goPointer(maxUnavailable, 'intstr.IntOrString'),
      UnhealthyPodEvictionPolicy: goPointer(unhealthyPodEvictionPolicy, 'policy.UnhealthyPodEvictionPolicyType'),
    })
    at.invalid(goText(printed), 'minAvailable and maxUnavailable cannot be both set')
  }
  validateIntOrPercent(minAvailable, at.child('minAvailable'))
  validateAtMostAll(minAvailable, at.child('minAvailable'))
  validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'))
  validateAtMostAll(maxUnavailable, at.child('maxUnavailable'))
  validateSelector(selector, at.child('selector'))
  if (isSet(unhealthyPodEvictionPolicy) && !evictionPolicies.includes(unhealthyPodEvictionPolicy)) {
    at.child('unhealthyPodEvictionPolicy').notSupported(unhealthyPodEvictionPolicy, evictionPolicies)
  }
}

function validateStatus({ status }: DeepReadonly<PodDisruptionBudget>, at: FieldPath): void {
  at.add(validateConditions(status?.conditions, at.child('conditions').path()))
  for (const name of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const)
    validateNotNegative(status?.[name], at.child(name))
}

export const podDisruptionBudgetStrategy = defineStrategy<PodDisruptionBudget>({
  allowUnconditionalUpdate: false,
  prepareForCreate(budget) {
    delete budget.status
    startGeneration(budget)
  },
  *prepareForUpdate(budget, old) {
    yield* keepMembers(budget, old, 'status')
    yield* raiseGeneration(budget, old, 'spec')
  },
  validate(budget, context) {
    return validateWith(context, (errors) => validateBudget(budget, errors))
  },
  validateUpdate(budget, _old, context) {
    return validateWith(context, (errors) => validateBudget(budget, errors))
  },
  subresources: {
    status: {
      prepareForUpdate: (budget, old) => keepMembers(budget, old, 'spec'),
      validateUpdate: (budget, _old, context) =>
        validateWith(context, (errors) => validateStatus(budget, errors.child('status'))),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
