import type { SideRunner } from './side.ts'
import { definitions } from './types.ts'

/**
 * Creates a policy with a binding, which match nothing and stay. When the last policy with a kind of parameters goes, kube-apiserver ends its informer
 * of them and never starts it again, so that later policies do not see new parameters.
 */
export async function keepParameters(runner: SideRunner): Promise<void> {
  const isServed = definitions.some(({ version, kind }) => version === 'v1' && kind.kind === 'ValidatingAdmissionPolicy')
  if (!isServed) return
  const run = await runner.begin({ area: 'keeper', namespace: false, steps: [] }, 'keeper')
  const rule = { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'true' }],
  }
  const metadata = { name: 'keeper' }
  const binding = { metadata, spec: { policyName: 'keeper', validationActions: ['Audit'] } }
  const objects = { validatingadmissionpolicies: { metadata, spec }, validatingadmissionpolicybindings: binding }
  for (const [resource, json] of Object.entries(objects)) {
    const path = `/apis/admissionregistration.k8s.io/v1/${resource}`
    const answer = await run.send({ id: resource, method: 'POST', path, body: { json } })
    if (answer.status !== 201) throw new Error(`the policy is not created: ${Buffer.from(answer.body).toString('utf8')}`)
  }
}
