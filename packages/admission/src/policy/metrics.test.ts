import { alwaysDenyAuthorizer } from '@krmkit/authorization'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { AdmissionMetrics, PolicyMetrics } from '../metrics.ts'
import { type PolicyCase, policyCluster } from '../testing/policies.ts'
import { runAdmission } from '../testing/run-admission.ts'
import { validatingPolicies } from './validating-policies.ts'

/** The metrics of a request, as texts. */
async function recorded(given: PolicyCase): Promise<readonly string[]> {
  const texts: string[] = []
  const policies: PolicyMetrics = {
    checked: ({ policy, binding, errorType, action }, seconds) => {
      expect(seconds).toBeGreaterThanOrEqual(0)
      texts.push(`${policy} ${binding} ${errorType} ${action}`)
    },
    conditionsEvaluated: ({ name, operation }, { outcome }) => void texts.push(`${name} ${operation} ${outcome}`),
  }
  const plugin = validatingPolicies({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })
  const measured: AdmissionPlugin = {
    ...plugin,
    validate: (object, attributes, context: AdmissionContext) =>
      plugin.validate?.(object, attributes, { ...context, metrics: { policies } as unknown as AdmissionMetrics }),
  }
  await runAdmission(measured, 'apps/deployments', { object: { spec: { replicas: 5 } }, ...given.request }, policyCluster(given))
  return texts
}

const all = { validationActions: ['Deny', 'Audit'] }

describe('metrics of validating policies', () => {
  it('count each action of a denial, and nothing for validations that hold', async () => {
    const spec = { validations: [{ expression: 'true' }, { expression: 'false' }] }
    expect(await recorded({ spec, binding: all })).toEqual(['p b invalid_error deny', 'p b invalid_error audit'])
    expect(await recorded({ spec, binding: { validationActions: ['Warn'] } })).toEqual(['p b invalid_error warn'])
    expect(await recorded({ spec: { validations: [{ expression: 'true' }] } })).toEqual([])
  })

  it('count ignored failures as allowed', async () => {
    const spec = { validations: [{ expression: 'object.spec.nothing == 1' }], failurePolicy: 'Ignore' }
    expect(await recorded({ spec, binding: all })).toEqual(['p b invalid_error allow'])
  })

  it('name the sort of error', async () => {
    expect(await recorded({ spec: { validations: [{ expression: 'nothing' }] } })).toEqual(['p b compile_error deny'])
    const costly = 'object.spec.items.all(a, object.spec.items.all(b, a + b >= 0))'
    const spec = { validations: Array.from({ length: 20 }, () => ({ expression: costly })) }
    const items = Array.from({ length: 300 }, (_, i) => i)
    expect(await recorded({ spec, request: { object: { spec: { items } } } })).toEqual(['p b out_of_budget deny'])
  })

  it('count failed audit annotations', async () => {
    const spec = { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.spec.nothing)' }] }
    expect(await recorded({ spec })).toEqual(['p b invalid_error deny'])
  })

  it('time match conditions by outcome', async () => {
    const conditions = (expression: string) => ({
      matchConditions: [{ name: 'c', expression }],
      validations: [{ expression: 'true' }],
    })
    expect(await recorded({ spec: conditions('true') })).toEqual(['p CREATE match'])
    expect(await recorded({ spec: conditions('false') })).toEqual(['p CREATE noMatch'])
    expect(await recorded({ spec: conditions('object.x == 1') })).toEqual(['p CREATE error', 'p b invalid_error deny'])
  })
})
