/** Attribute-based access control by a policy file with one JSON object per line. */

import { isJsonObject, type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import { AuthorizationError } from '../authorization-error.ts'
import type { Attributes, Decision, PolicyRule, SyncAuthorizer } from '../interfaces.ts'
import { pathMatches } from '../rbac/rule-match.ts'

/** One policy. `*` matches everything; an empty member matches empty attributes only, and an empty path matches no path. */
export interface AbacPolicy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const authenticatedGroup = 'system:authenticated'
const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/**
 * Parses a policy file: lines of `{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {...}}`, or of the
 * older unversioned form. Blank lines and lines starting with `#` are skipped.
 *
 * @throws AuthorizationError `InvalidPolicyFile` with the line.
 * @example
 * ```ts
 * import { createAbacAuthorizer, parseAbacPolicies } from '@krmkit/authorization'
 *
 * const spec = { user: 'jane', namespace: 'shop', resource: 'pods', apiGroup: '', readonly: true }
 * const line = JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })
 * const { authorize } = createAbacAuthorizer(parseAbacPolicies(line))
 * const pods = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'shop', name: '' }
 * const list = { ...pods, verb: 'list', isResource: true, path: '' }
 * authorize({ ...list, user: { username: 'jane', groups: [] } }).decision // 'allow'
 * ```
 */
export function parseAbacPolicies(text: string, profile: Pick<NamingProfile, 'domain'> = stockProfile): readonly AbacPolicy[] {
  return text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim()
    return trimmed === '' || trimmed.startsWith('#') ? [] : [parseLine(trimmed, i + 1, `abac.authorization.${profile.domain}`)]
  })
}

function parseLine(text: string, line: number, group: string): AbacPolicy {
  const fail = (message: string): never => {
    throw new AuthorizationError({ code: 'InvalidPolicyFile', line, message: `policy file, line ${line}: ${message}` })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    fail('it is not JSON')
  }
  if (!isJsonObject(value)) return fail('it is not an object')
  const { apiVersion = '' } = value
  if (apiVersion === '' || apiVersion === `${group}/v0`) return readUnversionedPolicy(readMembers(value, fail))
  if (apiVersion !== `${group}/v1beta1`) return fail(`apiVersion must be ${group}/v1beta1`)
  if (value['kind'] !== 'Policy') return fail('kind must be Policy')
  const { spec } = value
  if (!isJsonObject(spec)) return fail('it has no spec')
  const policy = readMembers(spec, fail)
  return policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: authenticatedGroup } : policy
}

/** In the unversioned form an omitted member matches everything. */
function readUnversionedPolicy(given: AbacPolicy): AbacPolicy {
  const { user, group, namespace, resource } = given
  const matchesEveryone = (user === '' && group === '') || user === '*' || group === '*'
  return {
    ...given,
    ...(matchesEveryone ? { user: '', group: authenticatedGroup } : {}),
    apiGroup: '*',
    namespace: namespace === '' ? '*' : namespace,
    resource: resource === '' ? '*' : resource,
    nonResourcePath: namespace === '' && resource === '' ? '*' : '',
  }
}

function readMembers(members: Readonly<Record<string, unknown>>, fail: (message: string) => never): AbacPolicy {
  const text = (name: string): string => {
    const value = Object.hasOwn(members, name) ? members[name] : ''
    return typeof value === 'string' ? value : fail(`${name} must be a string`)
  }
  const flag = Object.hasOwn(members, 'readonly') ? members['readonly'] : false
  if (typeof flag !== 'boolean') return fail('readonly must be true or false')
  return {
    user: text('user'),
    group: text('group'),
    readonly: flag,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  }
}

/**
 * Creates an authorizer that allows a request when any policy matches, and has no opinion otherwise.
 *
 * @see {@link parseAbacPolicies} for an example.
 */
export function createAbacAuthorizer(policies: readonly AbacPolicy[]): SyncAuthorizer {
  return {
    authorize(attributes) {
      return policies.some((policy) => matches(policy, attributes)) ? allowed : unmatched
    },
    rulesFor(user, namespace) {
      const applicable = policies.filter((policy) => appliesTo(policy, user))
      const verbs = ({ readonly }: AbacPolicy) => (readonly ? [...readVerbs] : ['*'])
      const inScope = applicable.filter((policy) => policy.namespace === '*' || policy.namespace === namespace)
      const resourceRules = inScope
        .filter(({ resource }) => resource !== '')
        .map((policy): PolicyRule => ({ verbs: verbs(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] }))
      const nonResourceRules = inScope
        .filter(({ nonResourcePath }) => nonResourcePath !== '')
        .map((policy): PolicyRule => ({ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] }))
      return { resourceRules, nonResourceRules, incomplete: false, errors: [] }
    },
  }
}

const trace = Object.freeze({ authorizer: 'ABAC' })
const allowed: Decision = Object.freeze({ decision: 'allow', reason: '', trace })
const unmatched: Decision = Object.freeze({ decision: 'noOpinion', reason: 'No policy matched.', trace })

function matches(policy: AbacPolicy, attributes: Attributes): boolean {
  if (!appliesTo(policy, attributes.user)) return false
  if (policy.readonly && !readVerbs.has(attributes.verb)) return false
  if (!attributes.isResource) return policy.nonResourcePath !== '' && pathMatches([policy.nonResourcePath], attributes.path)
  return (
    covers(policy.namespace, attributes.namespace) &&
    covers(policy.resource, attributes.resource) &&
    covers(policy.apiGroup, attributes.group)
  )
}

function covers(pattern: string, value: string): boolean {
  return pattern === '*' || pattern === value
}

/** Whether a policy applies to a user: the user and the group that it names must match. */
function appliesTo({ user, group }: AbacPolicy, { username, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false
  if (user !== '' && user !== '*' && user !== username) return false
  return group === '' || group === '*' || groups.includes(group)
}
