import { expect, it } from 'vitest'
import { admissionMetrics } from './admission-metrics.ts'
import { Instruments } from './instruments.ts'

it('prints the decisions and match conditions of policies under the names of kube-apiserver', async () => {
  const instruments = new Instruments()
  const { policies, webhooks } = admissionMetrics(instruments)
  const check = { policy: 'p', binding: 'b', errorType: 'invalid_error', action: 'deny' } as const
  for (const seconds of [0.0001, 0.05]) policies.checked(check, seconds)
  policies.conditionsEvaluated({ name: 'p', operation: 'CREATE' }, { seconds: 0.002, outcome: 'noMatch' })
  webhooks.conditionsEvaluated({ name: 'w', type: 'admit', operation: 'CREATE' }, { seconds: 0.002, outcome: 'error' })
  const lines = [...instruments.texts()].join('').split('\n')
  const prefix = 'apiserver_validating_admission_policy_check'
  const result = 'enforcement_action="deny",error_type="invalid_error"'
  const policy = 'policy="p",policy_binding="b"'
  const condition = 'apiserver_admission_match_condition'
  expect(lines).toEqual(
    expect.arrayContaining([
      `${prefix}_total{${result},${policy}} 2`,
      `${prefix}_duration_seconds_bucket{${result},${policy},le="0.001"} 1`,
      `${prefix}_duration_seconds_bucket{${result},${policy},le="0.1"} 2`,
      `${prefix}_duration_seconds_count{${result},${policy}} 2`,
      `${condition}_exclusions_total{kind="policy",name="p",operation="CREATE",type="validate"} 1`,
      `${condition}_evaluation_errors_total{kind="webhook",name="w",operation="CREATE",type="admit"} 1`,
    ]),
  )
})
