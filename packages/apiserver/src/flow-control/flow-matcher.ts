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

interface Spec {
  readonly priorityLevelConfiguration?: { readonly name?: string }
  readonly matchingPrecedence?: number
  readonly rules?: readonly Rule[]
}

interface Rule {
  readonly subjects?: readonly Subject[]
  readonly resourceRules?: readonly ResourceRule[]
  readonly nonResourceRules?: readonly { readonly verbs?: readonly string[]; readonly nonResourceURLs?: readonly string[] }[]
}

interface Subject {
  readonly kind?: string
  readonly user?: { readonly name?: string }
  readonly group?: { readonly name?: string }
  readonly serviceAccount?: { readonly namespace?: string; readonly name?: string }
}

interface ResourceRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly clusterScope?: boolean
  readonly namespaces?: readonly string[]
}

interface Candidate {
  readonly match: FlowMatch
  /** Rules whose subjects include the user. */
  readonly rules: readonly DeepReadonly<Rule>[]
}

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
      rules: rules.filter(({ subjects = [] }) => subjects.some((subject) => matchesSubject(subject, user))),
    }))
    .filter(({ rules }) => rules.length > 0)
}

function specOf(schema: FrozenObject): DeepReadonly<Spec> {
  return (schema as { readonly spec?: Spec }).spec ?? {}
}

const lowestPrecedence = 10_000

function byPrecedence(a: FrozenObject, b: FrozenObject): number {
  const difference = (specOf(a).matchingPrecedence ?? lowestPrecedence) - (specOf(b).matchingPrecedence ?? lowestPrecedence)
  if (difference !== 0) return difference
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}

function matchesRule({ resourceRules = [], nonResourceRules = [] }: DeepReadonly<Rule>, info: FlowRequest['info']): boolean {
  if (info.isResource) {
    for (const rule of resourceRules) if (matchesResource(rule, info)) return true
    return false
  }
  return nonResourceRules.some(({ verbs, nonResourceURLs = [] }) => {
    return includes(verbs, info.verb) && nonResourceURLs.some((url) => matchesPath(url, info.path))
  })
}

const accountPrefix = 'system:serviceaccount:'

function matchesSubject(
  { kind, user, group, serviceAccount }: DeepReadonly<Subject>,
  requestUser: RequestContext['user'],
): boolean {
  if (kind === 'User') return user?.name === '*' || user?.name === requestUser.username
  if (kind === 'Group') return group?.name === '*' || (requestUser.groups ?? []).includes(group?.name ?? '')
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return false
  const { namespace = '', name = '' } = serviceAccount
  const prefix = `${accountPrefix}${namespace}:`
  if (!requestUser.username.startsWith(prefix)) return false
  const accountName = requestUser.username.slice(prefix.length)
  return accountName !== '' && !accountName.includes(':') && (name === '*' || name === accountName)
}

function matchesResource(rule: DeepReadonly<ResourceRule>, info: RequestContext['info']): boolean {
  if (!includes(rule.verbs, info.verb) || !includes(rule.apiGroups, info.group)) return false
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  if (!includes(rule.resources, resource)) return false
  return info.namespace === '' ? rule.clusterScope === true : includes(rule.namespaces, info.namespace)
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list[0] === '*' || list.includes(value) || list.includes('*'))
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('/*') && path.startsWith(pattern.slice(0, -1))
}
