import type { Attributes, Authorizer, Decision } from '@krmkit/authorization'
import { stockProfile } from '@krmkit/meta'
import type { AdmissionResult, AdmitOptions } from '../admit.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { mutatingPolicies } from '../policy/mutating-policies.ts'
import { validatingPolicies } from '../policy/validating-policies.ts'
import { clusterOf, runAdmission, type TestRequest } from './run-admission.ts'

/** Runs policies in tests, from partial policies and bindings. */

export interface PolicyCase {
  /** Members of the policy; its `matchConstraints` match every request by default. */
  readonly spec?: object
  /** Members of its binding `b`; an array makes bindings `b0`, `b1` and so on. */
  readonly binding?: object | readonly object[]
  /** Further policies, each with a binding. */
  readonly others?: Readonly<Record<string, object>>
  readonly objects?: Readonly<Record<string, object>>
  readonly request?: TestRequest
  readonly resource?: string
  readonly authorizer?: Authorizer
  readonly options?: AdmitOptions
}

const everything = {
  resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
  matchPolicy: 'Equivalent',
}

const noOpinion: Authorizer = { authorize: (): Decision => ({ decision: 'noOpinion', reason: '' }) }

/** An authorizer that allows what the predicate accepts; asynchronous when `async` is set. */
export function fakeAuthorizer(allows: (attributes: Attributes) => boolean, async = false): Authorizer {
  const decide = (attributes: Attributes): Decision =>
    allows(attributes) ? { decision: 'allow', reason: 'it may' } : { decision: 'deny', reason: 'it may not' }
  return { authorize: (attributes) => (async ? Promise.resolve(attributes).then(decide) : decide(attributes)) }
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

const mutatingPoliciesOf = (name: string) => `${group}/mutatingadmissionpolicies//${name}`
const mutatingBindingsOf = (name: string) => `${group}/mutatingadmissionpolicybindings//${name}`

/** Runs mutating policies, each with a binding of the same name, on a ConfigMap. */
export async function runMutatingPolicies(
  policies: Readonly<Record<string, object>>,
  given: Omit<PolicyCase, 'spec' | 'others'> & { readonly plugins?: readonly AdmissionPlugin[] } = {},
): Promise<AdmissionResult> {
  const stored: Record<string, object> = { 'namespaces//ns': { metadata: { labels: { team: 'a' } } }, ...given.objects }
  for (const [name, spec] of Object.entries(policies)) {
    const defaults = { failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints: everything }
    stored[mutatingPoliciesOf(name)] = { spec: { ...defaults, ...spec } }
    stored[mutatingBindingsOf(name)] = { spec: { policyName: name, ...given.binding } }
  }
  const served = [{ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true }]
  const plugin = mutatingPolicies({ profile: stockProfile, authorizer: given.authorizer ?? noOpinion })
  const request = { object: { data: { k: 'v' } }, ...given.request }
  return runAdmission([plugin, ...(given.plugins ?? [])], 'configmaps', request, clusterOf(stored, served), given.options)
}

export async function runPolicy(given: PolicyCase): Promise<AdmissionResult> {
  const plugin = validatingPolicies({ profile: stockProfile, authorizer: given.authorizer ?? noOpinion })
  const request = { object: { spec: { replicas: 5 } }, ...given.request }
  return runAdmission(plugin, given.resource ?? 'apps/deployments', request, policyCluster(given), given.options)
}
