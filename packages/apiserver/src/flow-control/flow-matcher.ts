import type { DeepReadonly } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import type { RequestContext } from '../request-context.ts'

/** What a request is judged by. */
export type FlowRequest = Pick<RequestContext, 'info' | 'user'>

/** Which flow schema a request belongs to, and which priority level that one names. */
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
  /** Rules whose subjects include the caller. */
  readonly rules: readonly DeepReadonly<Rule>[]
}

/**
 * Sorts flow schemas as they are asked: by precedence, then by name. Those of which no rule fits are passed over. Which of them are
 * about a caller is worked out once for each object that says who the caller is.
 *
 * @returns what tells the class of a request; undefined when no schema fits.
 */
export function createFlowMatcher(schemas: readonly FrozenObject[]): (request: FlowRequest) => FlowMatch | undefined {
  const ordered = [...schemas].sort(byPrecedence).map((schema): Candidate => {
    const { priorityLevelConfiguration, rules = [] } = specOf(schema)
    return { match: { schema, level: priorityLevelConfiguration?.name ?? '' }, rules }
  })
  const byCaller = new WeakMap<FlowRequest['user'], readonly Candidate[]>()
  return ({ info, user }) => {
    let candidates = byCaller.get(user)
    if (candidates === undefined) {
      candidates = candidatesFor(user, ordered)
      byCaller.set(user, candidates)
    }
    for (const { match: found, rules } of candidates) {
      for (const rule of rules) if (matchesRule(rule, info)) return found
    }
    return undefined
  }
}

function candidatesFor(user: FlowRequest['user'], all: readonly Candidate[]): readonly Candidate[] {
  return all
    .map(({ match: found, rules }) => ({
      found,
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

function matchesSubject({ kind, user, group, serviceAccount }: DeepReadonly<Subject>, caller: RequestContext['user']): boolean {
  if (kind === 'User') return user?.name === '*' || user?.name === caller.username
  if (kind === 'Group') return group?.name === '*' || (caller.groups ?? []).includes(group?.name ?? '')
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return false
  const { namespace = '', name = '' } = serviceAccount
  const prefix = `${accountPrefix}${namespace}:`
  if (!caller.username.startsWith(prefix)) return false
  const own = caller.username.slice(prefix.length)
  return own !== '' && !own.includes(':') && (name === '*' || name === own)
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
