import { expect, it } from 'vitest'
import { printFailurePolicy, printSuccessPolicy } from './pod-policies.ts'

it('prints empty lists of policies as kube-apiserver does, apart from absent ones', () => {
  expect(printSuccessPolicy({ rules: [] })).toBe('batch.SuccessPolicy{Rules:[]batch.SuccessPolicyRule{}}')
  expect(printSuccessPolicy({ rules: null })).toBe('batch.SuccessPolicy{Rules:[]batch.SuccessPolicyRule(nil)}')
  expect(printFailurePolicy({ rules: [] })).toBe('batch.PodFailurePolicy{Rules:[]batch.PodFailurePolicyRule{}}')
  const pattern = 'batch.PodFailurePolicyOnPodConditionsPattern'
  const printed = (onPodConditions: [] | null) =>
    printFailurePolicy({ rules: [{ action: 'Count', onPodConditions: onPodConditions as [] }] })
  expect(printed([])).toContain(`OnPodConditions:[]${pattern}{}}`)
  expect(printed(null)).toContain(`OnPodConditions:[]${pattern}(nil)}`)
})
