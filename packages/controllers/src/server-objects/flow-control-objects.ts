import type { ApiObject, Features } from '@krmkit/meta'

/** The default flow schemas and priority levels of Kubernetes. */

export interface PriorityLevel extends ApiObject {
  spec?: PriorityLevelSpec
}

interface PriorityLevelSpec {
  type: 'Exempt' | 'Limited'
  exempt?: { nominalConcurrencyShares: number; lendablePercent: number }
  limited?: { nominalConcurrencyShares: number; lendablePercent: number; limitResponse: LimitResponse }
}

interface LimitResponse {
  type: 'Queue' | 'Reject'
  queuing?: { queues: number; handSize: number; queueLengthLimit: number }
}

export interface FlowCondition {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime: string
}

export interface FlowSchema extends ApiObject {
  spec?: FlowSchemaSpec
  status?: { conditions?: FlowCondition[] }
}

interface FlowSchemaSpec {
  priorityLevelConfiguration: { name: string }
  matchingPrecedence: number
  distinguisherMethod?: { type: 'ByUser' | 'ByNamespace' }
  rules: FlowRule[]
}

interface FlowRule {
  subjects: Subject[]
  resourceRules?: { verbs: string[]; apiGroups: string[]; resources: string[]; clusterScope?: boolean; namespaces: string[] }[]
  nonResourceRules?: { verbs: string[]; nonResourceURLs: string[] }[]
}

interface Subject {
  kind: 'User' | 'Group' | 'ServiceAccount'
  user?: { name: string }
  group?: { name: string }
  serviceAccount?: { namespace: string; name: string }
}

/** Mandatory objects, which are always restored. */
export const mandatoryNames: ReadonlySet<string> = new Set(['exempt', 'catch-all'])

const queue = (queues: number, handSize: number): LimitResponse => {
  return { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } }
}

/** Entries: name, nominal concurrency shares, lendable percentage and limit response. */
const levels: readonly (readonly [string, number, number, LimitResponse])[] = [
  ['catch-all', 5, 0, { type: 'Reject' }],
  ['system', 30, 33, queue(64, 6)],
  ['node-high', 40, 25, queue(64, 6)],
  ['leader-election', 10, 0, queue(16, 4)],
  ['workload-high', 40, 50, queue(128, 6)],
  ['workload-low', 100, 90, queue(128, 6)],
  ['global-default', 20, 50, queue(128, 6)],
]

export function priorityLevels(): readonly { readonly name: string; readonly spec: PriorityLevelSpec }[] {
  const exempt = {
    name: 'exempt',
    spec: { type: 'Exempt' as const, exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  }
  return [
    exempt,
    ...levels.map(([name, nominalConcurrencyShares, lendablePercent, limitResponse]) => {
      return { name, spec: { type: 'Limited' as const, limited: { nominalConcurrencyShares, lendablePercent, limitResponse } } }
    }),
  ]
}

const all = ['*']
const everything: Omit<FlowRule, 'subjects'> = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
const groups = (...names: string[]): Subject[] => names.map((name) => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]): Subject[] => names.map((name) => ({ kind: 'User', user: { name } }))
const allUsers = groups('system:unauthenticated', 'system:authenticated')
const nodes = groups('system:nodes')
const locking = ['get', 'create', 'update']
const inNamespaces = (apiGroups: string[], resources: string[], verbs: string[]) => {
  return { verbs, apiGroups, resources, namespaces: all }
}

/** @param names `systemNamespace` is the namespace of the service accounts of controllers */
export function flowSchemas(
  names: { readonly systemNamespace: string; readonly apiDomain: string },
  features?: Pick<Features, 'release'>,
): readonly { readonly name: string; readonly spec: FlowSchemaSpec }[] {
  const isLater = features?.release.atLeast('1.34') === true
  const { systemNamespace: namespace, apiDomain } = names
  const accounts = (...accountNames: string[]): Subject[] => {
    return accountNames.map((name) => ({ kind: 'ServiceAccount', serviceAccount: { name, namespace } }))
  }
  const manager = 'system:kube-controller-manager'
  const scheduler = 'system:kube-scheduler'
  const leases = inNamespaces([`coordination.${apiDomain}`], ['leases'], locking)
  const endpointAccounts = accounts('endpoint-controller', 'endpointslicemirroring-controller')
  const ownNodes = { ...inNamespaces([''], ['nodes', 'nodes/status'], all), clusterScope: true }
  const probes = { verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }
  const schema = (
    name: string,
    [level, matchingPrecedence]: readonly [string, number],
    rule: FlowRule,
    distinguisher: 'ByUser' | 'ByNamespace' | 'none' = 'ByUser',
  ) => {
    const method = distinguisher === 'none' ? {} : { distinguisherMethod: { type: distinguisher } }
    return { name, spec: { priorityLevelConfiguration: { name: level }, matchingPrecedence, ...method, rules: [rule] } }
  }
  // Of releases whose components lock endpoints and config maps instead of Leases.
  const beforeLeases = [
    schema('endpoint-controller', ['workload-high', 150], {
      subjects: [...users(manager), ...endpointAccounts],
      resourceRules: [inNamespaces([''], ['endpoints'], locking)],
    }),
    schema('workload-leader-election', ['leader-election', 200], {
      subjects: accounts('*'),
      resourceRules: [inNamespaces([''], ['endpoints', 'configmaps'], locking), leases],
    }),
  ]
  return [
    schema('exempt', ['exempt', 1], { subjects: groups('system:masters'), ...everything }, 'none'),
    schema('probes', ['exempt', 2], { subjects: allUsers, nonResourceRules: [probes] }, 'none'),
    schema('system-leader-election', ['leader-election', 100], {
      subjects: [...users(manager, scheduler), ...accounts('*')],
      resourceRules: [leases],
    }),
    ...(isLater ? [] : beforeLeases),
    schema('system-node-high', ['node-high', 400], {
      subjects: nodes,
      resourceRules: [ownNodes, inNamespaces([`coordination.${apiDomain}`], ['leases'], all)],
    }),
    schema('system-nodes', ['system', 500], { subjects: nodes, ...everything }),
    schema('kube-controller-manager', ['workload-high', 800], { subjects: users(manager), ...everything }, 'ByNamespace'),
    schema('kube-scheduler', ['workload-high', 800], { subjects: users(scheduler), ...everything }, 'ByNamespace'),
    schema('kube-system-service-accounts', ['workload-high', 900], { subjects: accounts('*'), ...everything }, 'ByNamespace'),
    schema('service-accounts', ['workload-low', 9000], { subjects: groups('system:serviceaccounts'), ...everything }),
    schema('global-default', ['global-default', 9900], { subjects: allUsers, ...everything }),
    schema('catch-all', ['catch-all', 10_000], { subjects: allUsers, ...everything }),
  ]
}
