/** Disruption budgets. */
import { type DeepReadonly, goText } from '@krmkit/meta'
import type { PodDisruptionBudget } from '../../types/policy-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkAtMostAll, checkIntOrPercent } from '../shared/int-or-percent.ts'
import { checkLabelSelector } from '../shared/labels.ts'
import { checkMetadataUpdate, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet } from '../shared/values.ts'

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

function checkBudget(budget: DeepReadonly<PodDisruptionBudget>, report: Report): void {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = budget.spec ?? {}
  const at = report.at('spec')
  if (isSet(minAvailable) && isSet(maxUnavailable)) {
    at.invalid(goText('policy.PodDisruptionBudgetSpec{}'), 'minAvailable and maxUnavailable cannot be both set')
  }
  checkIntOrPercent(minAvailable, at.child('minAvailable'))
  checkAtMostAll(minAvailable, at.child('minAvailable'))
  checkIntOrPercent(maxUnavailable, at.child('maxUnavailable'))
  checkAtMostAll(maxUnavailable, at.child('maxUnavailable'))
  checkLabelSelector(selector, at.child('selector'))
  if (isSet(unhealthyPodEvictionPolicy) && !evictionPolicies.includes(unhealthyPodEvictionPolicy)) {
    at.child('unhealthyPodEvictionPolicy').notSupported(unhealthyPodEvictionPolicy, evictionPolicies)
  }
}

export const podDisruptionBudgetStrategy = defineStrategy<PodDisruptionBudget>({
  allowUnconditionalUpdate: false,
  prepareForCreate(budget) {
    delete budget.status
    startGeneration(budget)
  },
  prepareForUpdate(budget, old) {
    keepMembers(budget, old, 'status')
    raiseGeneration(budget, old, 'spec')
  },
  validate(budget, context) {
    return findings(context, (report) => checkBudget(budget, report))
  },
  validateUpdate(budget, _old, context) {
    return findings(context, (report) => checkBudget(budget, report))
  },
  subresources: {
    status: {
      prepareForUpdate(budget, old) {
        keepMembers(budget, old, 'spec')
      },
      validateUpdate(budget, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(budget, old, report)
          const at = report.at('status')
          for (const name of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const) {
            checkNotNegative(budget.status?.[name], at.child(name))
          }
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
