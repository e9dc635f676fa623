import type { Attributes, Authorizer, Decision } from '@krmkit/authorization'
import { stockProfile } from '@krmkit/meta'
import type { AdmissionAnswer, AdmitOptions } from '../admit.ts'
import { validatingPolicies } from '../policy/validating-policies.ts'
import { type Asked, ask, clusterOf } from './ask.ts'

/** How tests ask policies: with the parts of policy and binding that matter. */

export interface PolicyCase {
  /** Of the policy, beside `matchConstraints`, which cover everything. */
  readonly spec?: object
  /** Of its binding `b`; several for several bindings `b0`, `b1`. */
  readonly binding?: object | readonly object[]
  /** Other policies, bound to everything. */
  readonly others?: Readonly<Record<string, object>>
  readonly objects?: Readonly<Record<string, object>>
  readonly asked?: Asked
  readonly resource?: string
  readonly authorizer?: Authorizer
  readonly options?: AdmitOptions
}

const everything = {
  resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
  matchPolicy: 'Equivalent',
}

const nobody: Authorizer = { authorize: (): Decision => ({ decision: 'noOpinion', reason: '' }) }

/** Says yes to what the function likes, at once or later. */
export function rights(may: (attributes: Attributes) => boolean, later = false): Authorizer {
  const decide = (attributes: Attributes): Decision =>
    may(attributes) ? { decision: 'allow', reason: 'it may' } : { decision: 'deny', reason: 'it may not' }
  return { authorize: (attributes) => (later ? Promise.resolve(attributes).then(decide) : decide(attributes)) }
}

const group = 'admissionregistration.k8s.io'
const policiesOf = (name: string) => `${group}/validatingadmissionpolicies//${name}`
const bindingsOf = (name: string) => `${group}/validatingadmissionpolicybindings//${name}`

export function policyCluster({ spec = {}, binding = {}, others = {}, objects = {} }: PolicyCase) {
  const stored: Record<string, object> = { 'namespaces//ns': { metadata: { labels: { team: 'a' } } }, ...objects }
  const put = (name: string, policy: object, bound: readonly (readonly [string, object])[]) => {
    stored[policiesOf(name)] = { spec: { failurePolicy: 'Fail', matchConstraints: everything, ...policy } }
    for (const [key, rest] of bound) {
      stored[bindingsOf(key)] = { spec: { policyName: name, validationActions: ['Deny'], ...rest } }
    }
  }
  const list = Array.isArray(binding) ? binding.map((each, i) => [`b${i}`, each] as const) : [['b', binding as object] as const]
  put('p', spec, list)
  for (const [name, policy] of Object.entries(others)) put(name, policy, [[name, {}]])
  const served = [
    { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
    { group: 'example.com', version: 'v1', resource: 'limits', kind: 'Limit', namespaced: false },
  ]
  return clusterOf(stored, served)
}

export async function askPolicy(given: PolicyCase): Promise<AdmissionAnswer> {
  const plugin = validatingPolicies({ profile: stockProfile, authorizer: given.authorizer ?? nobody })
  const asked = { object: { spec: { replicas: 5 } }, ...given.asked }
  return ask(plugin, given.resource ?? 'apps/deployments', asked, policyCluster(given), given.options)
}
