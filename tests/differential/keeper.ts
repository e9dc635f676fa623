import type { SideRunner } from './side.ts'

/**
 * Creates a policy without bindings, which stays. When the last policy with a kind of parameters goes, the stock server ends its informer
 * of them and never starts it again, so that later policies do not see new parameters.
 */
export async function keepParameters(runner: SideRunner): Promise<void> {
  const run = await runner.begin({ area: 'keeper', namespace: false, steps: [] }, 'keeper')
  const rule = { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'true' }],
  }
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
  const answer = await run.send({ id: 'keeper', method: 'POST', path, body: { json: { metadata: { name: 'keeper' }, spec } } })
  if (answer.status !== 201) throw new Error(`the policy is not created: ${Buffer.from(answer.body).toString('utf8')}`)
}
