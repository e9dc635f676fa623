import { type Authorizer, alwaysAllowAuthorizer } from '@krmkit/authorization'
import type { DeepReadonly, FieldError, NamingProfile, UserInfo } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { checkPod } from '../pod-security-policy/check-pod.ts'
import { defaultPod } from '../pod-security-policy/default-pod.ts'
import { type Policy, policyNames } from '../pod-security-policy/policy.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

export interface PodSecurityPolicyOptions {
  readonly profile: NamingProfile
  /** Decides who may `use` a policy. Default: everyone may use every policy. */
  readonly authorizer?: Authorizer
}

/**
 * Admits pods by PodSecurityPolicies, as releases before 1.25 do. The user or the service account of the pod must be authorized to `use` the
 * policy. A policy that allows the pod as it is precedes those that change it; among equals the first by name is chosen. The annotation
 * `kubernetes.io/psp` names the policy.
 *
 * @see API protocol specification, 9.4
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podSecurityPolicy } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const policy = { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata: { name: 'restricted' }, spec: {} }
 * cluster.put({ group: 'policy', resource: 'podsecuritypolicies' }, policy)
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { hostNetwork: true, containers: [] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { status } = await admit({ ...pods, object }, [podSecurityPolicy({ profile: stockProfile })], cluster)
 * status?.message?.includes('Host network is not allowed to be used') // true
 * ```
 */
export function podSecurityPolicy({ profile, authorizer = alwaysAllowAuthorizer }: PodSecurityPolicyOptions): AdmissionPlugin {
  const names = policyNames(profile.domain)
  const choose = async (
    pod: DeepReadonly<Pod>,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
    mayChange: boolean,
  ) => {
    const policies = await policiesFor(context, pod.metadata.annotations?.[names.psp])
    if (policies.length === 0) throw forbidden(attributes, pod, `${prefix}no providers available to validate pod request`)
    const errors: FieldError[] = []
    let changing: { readonly policy: Policy; readonly pod: Pod } | undefined
    for (const policy of policies) {
      const settled = defaultPod(pod, policy, names)
      const found = checkPod(settled, policy, names)
      if (found.length > 0) {
        errors.push(...found)
        continue
      }
      const isSame = JSON.stringify(sorted(settled)) === JSON.stringify(sorted(pod))
      if (!isSame && (!mayChange || changing !== undefined)) continue
      if (!(await mayUse(policy, { pod, attributes, authorizer }))) continue
      if (isSame) return { policy, pod: undefined }
      changing = { policy, pod: settled }
    }
    if (changing !== undefined) return changing
    const step = mayChange ? 'admit' : 'validate'
    const texts = errors.map(({ field: path, message }) => `${path}: ${message}`)
    throw forbidden(attributes, pod, `${prefix}unable to ${step} pod: [${texts.join(' ')}]`)
  }
  return {
    name: 'PodSecurityPolicy',
    changes: 'whole',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE'], ['', 'ephemeralcontainers']),
    async admit(object, attributes, context) {
      const pod = object as Pod
      if (isIgnored(pod, attributes)) return undefined
      const mayChange = attributes.operation === 'CREATE'
      const { policy, pod: changed } = await choose(pod, attributes, context, mayChange)
      const { name = '' } = policy.metadata
      context.explain?.(`PodSecurityPolicy ${name}`)
      context.annotate?.(`podsecuritypolicy.policy.${profile.apiDomain}/admit-policy`, name)
      if (!mayChange) return undefined
      const next = changed ?? pod
      return { ...next, metadata: { ...next.metadata, annotations: { ...next.metadata.annotations, [names.psp]: name } } }
    },
    async validate(object, attributes, context) {
      const pod = object as DeepReadonly<Pod>
      if (object === undefined || isIgnored(pod, attributes)) return
      const { policy } = await choose(pod, attributes, context, false)
      context.annotate?.(`podsecuritypolicy.policy.${profile.apiDomain}/validate-policy`, policy.metadata.name ?? '')
    },
  }
}

const prefix = 'PodSecurityPolicy: '
const policies = { group: 'policy', resource: 'podsecuritypolicies' }

/** Updates that leave the specification as it is, and those of terminating pods, are not judged. */
function isIgnored({ spec, metadata }: DeepReadonly<Pod>, { operation, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE') return false
  if (metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null) return true
  return JSON.stringify(sorted(spec)) === JSON.stringify(sorted((oldObject as DeepReadonly<Pod> | undefined)?.spec))
}

/** All policies by name; the one that admitted the pod before comes first. */
async function policiesFor({ reader }: AdmissionContext, before: string | undefined): Promise<readonly Policy[]> {
  const all = (await reader.list(policies)) as readonly Policy[]
  const rank = ({ metadata }: Policy) => (before !== undefined && metadata.name === before ? 0 : 1)
  return [...all].sort((a, b) => rank(a) - rank(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

interface Use {
  readonly pod: DeepReadonly<Pod>
  readonly attributes: AdmissionAttributes
  readonly authorizer: Authorizer
}

/** Whether the user or the service account of the pod may `use` the policy, in either of its groups. */
async function mayUse({ metadata: { name = '' } }: Policy, { pod, attributes, authorizer }: Use): Promise<boolean> {
  const { namespace, user } = attributes
  const account = pod.spec.serviceAccountName ?? ''
  const users: UserInfo[] = account === '' ? [user] : [serviceAccountUser(namespace, account), user]
  for (const each of users) {
    for (const group of [policies.group, 'extensions']) {
      const at = { version: '', resource: policies.resource, subresource: '', namespace, name, path: '' }
      const { decision } = await authorizer.authorize({ user: each, verb: 'use', isResource: true, group, ...at })
      if (decision === 'allow') return true
    }
  }
  return false
}

function serviceAccountUser(namespace: string, name: string): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

/** A value with the members of its objects sorted by name. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, each]) => [name, sorted(each)]))
}
