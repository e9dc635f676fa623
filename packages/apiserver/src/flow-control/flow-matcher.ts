import type {
  FlowSchema,
  Subject as FlowSubject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from '@krmkit/kinds/flowcontrol/v1'
import type { DeepReadonly } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import type { RequestContext } from '../request/context.ts'

/** Attributes of a request that flow schemas match. */
export type FlowRequest = Pick<RequestContext, 'info' | 'user'>

/** The flow schema of a request, and the priority level that it names. */
export interface FlowMatch {
  readonly schema: FrozenObject
  readonly level: string
}

interface Candidate {
  readonly match: FlowMatch
  /** Rules whose subjects include the user. */
  readonly rules: readonly Rule[]
}

// Lists of stored flow schemas are null where they are empty: the types of the kind say of which.
type Rule = DeepReadonly<PolicyRulesWithSubjects>
type Subject = DeepReadonly<FlowSubject>

/**
 * Matches requests against flow schemas, by precedence, then by name. The schemas whose subjects include a user are computed once per
 * `UserInfo` object.
 *
 * @returns a function that returns undefined when no schema matches.
 */
export function createFlowMatcher(schemas: readonly FrozenObject[]): (request: FlowRequest) => FlowMatch | undefined {
  const ordered = [...schemas].sort(byPrecedence).map((schema): Candidate => {
    const { priorityLevelConfiguration, rules = [] } = specOf(schema)
    return { match: { schema, level: priorityLevelConfiguration?.name ?? '' }, rules }
  })
  const candidatesByUser = new WeakMap<FlowRequest['user'], readonly Candidate[]>()
  return ({ info, user }) => {
    let candidates = candidatesByUser.get(user)
    if (candidates === undefined) {
      candidates = candidatesFor(user, ordered)
      candidatesByUser.set(user, candidates)
    }
    for (const { match, rules } of candidates) {
      for (const rule of rules) if (matchesRule(rule, info)) return match
    }
    return undefined
  }
}

function candidatesFor(user: FlowRequest['user'], all: readonly Candidate[]): readonly Candidate[] {
  return all
    .map(({ match, rules }) => ({
      match,
      rules: rules.filter(({ subjects }) => (subjects ?? []).some((subject) => matchesSubject(subject, user))),
    }))
    .filter(({ rules }) => rules.length > 0)
}

function specOf(schema: FrozenObject): Partial<NonNullable<DeepReadonly<FlowSchema>['spec']>> {
  return (schema as DeepReadonly<FlowSchema>).spec ?? {}
}

const lowestPrecedence = 10_000

function byPrecedence(a: FrozenObject, b: FrozenObject): number {
  const difference = (specOf(a).matchingPrecedence ?? lowestPrecedence) - (specOf(b).matchingPrecedence ?? lowestPrecedence)
  if (difference !== 0) return difference
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}

function matchesRule({ resourceRules = [], nonResourceRules = [] }: Rule, info: FlowRequest['info']): boolean {
  if (info.isResource) {
    for (const rule of resourceRules) if (matchesResource(rule, info)) return true
    return false
  }
  return nonResourceRules.some((rule) => matchesNonResource(rule, info))
}

const accountPrefix = 'system:serviceaccount:'

function matchesSubject({ kind, user, group, serviceAccount }: Subject, requestUser: RequestContext['user']): boolean {
  if (kind === 'User') return user?.name === '*' || user?.name === requestUser.username
  if (kind === 'Group') return group?.name === '*' || (requestUser.groups ?? []).includes(group?.name ?? '')
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return false
  const { namespace = '', name = '' } = serviceAccount
  const prefix = `${accountPrefix}${namespace}:`
  if (!requestUser.username.startsWith(prefix)) return false
  const accountName = requestUser.username.slice(prefix.length)
  return accountName !== '' && !accountName.includes(':') && (name === '*' || name === accountName)
}

function matchesNonResource(
  { verbs, nonResourceURLs }: DeepReadonly<NonResourcePolicyRule>,
  { verb, path }: FlowRequest['info'],
): boolean {
  return includes(verbs, verb) && (nonResourceURLs ?? []).some((url) => matchesPath(url, path))
}

function matchesResource(rule: DeepReadonly<ResourcePolicyRule>, info: RequestContext['info']): boolean {
  if (!includes(rule.verbs, info.verb) || !includes(rule.apiGroups, info.group)) return false
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  if (!includes(rule.resources, resource)) return false
  return info.namespace === '' ? rule.clusterScope === true : includes(rule.namespaces, info.namespace)
}

function includes(list: readonly string[] | null | undefined, value: string): boolean {
  return list !== undefined && list !== null && (list[0] === '*' || list.includes(value) || list.includes('*'))
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('/*') && path.startsWith(pattern.slice(0, -1))
}
