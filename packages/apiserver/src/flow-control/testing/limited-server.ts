import type { UserInfo } from '@krmkit/meta'
import type { ApiServerOptions } from '../../server/options.ts'
import { sampleServer } from '../../testing/sample-server.ts'

export const flowControlPath = '/apis/flowcontrol.apiserver.k8s.io/v1'
const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'
const all = ['*']
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
export const queuing = { queues: 64, handSize: 4, queueLengthLimit: 50 }
export const levelOf = (name: string, limited: object = {}) => ({
  apiVersion,
  kind: 'PriorityLevelConfiguration',
  metadata: { name },
  spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' }, ...limited } },
})
export const schemaOf = (name: string, level: string, { precedence = 10, rules = everything as object } = {}) => ({
  apiVersion,
  kind: 'FlowSchema',
  metadata: { name },
  spec: {
    matchingPrecedence: precedence,
    priorityLevelConfiguration: { name: level },
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [{ kind: 'User', user: { name: '*' } }], ...rules }],
  },
})
export const jane: UserInfo = { username: 'jane', groups: ['system:authenticated'] }
export const joe: UserInfo = { username: 'joe', groups: ['system:authenticated'] }
export const configMaps = '/api/v1/namespaces/default/configmaps'
export const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A server with flow control and few seats. */
export async function limitedServer(options: Partial<ApiServerOptions> = {}, seats = 12) {
  const sample = await sampleServer({
    flowControl: true,
    limits: { readOnlyInFlight: seats - 2, mutatingInFlight: 2 },
    ...options,
  })
  const create = (object: { kind: string }) => {
    const resource = object.kind === 'FlowSchema' ? 'flowschemas' : 'prioritylevelconfigurations'
    return sample.ask(`${flowControlPath}/${resource}`, { method: 'POST', body: object })
  }
  const metric = async (name: string, ...labels: string[]) => {
    const { text } = await sample.ask('/metrics')
    const line = text.split('\n').find((each) => each.startsWith(`${name}{`) && labels.every((label) => each.includes(label)))
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
  }
  return { ...sample, create, metric }
}

/** Holds the seats of requests by delaying their authorization until it is released. */
export function gate() {
  const waiting: (() => void)[] = []
  return {
    /** Delays the requests of one user; requests of other users pass. */
    authorizer: {
      authorize: ({ user }: { user: UserInfo }) =>
        user.username === 'jane'
          ? new Promise<{ decision: 'allow'; reason: string }>((resolve) => {
              waiting.push(() => resolve({ decision: 'allow', reason: '' }))
            })
          : { decision: 'allow' as const, reason: '' },
    },
    held: () => waiting.length,
    open: () => {
      for (const go of waiting.splice(0)) go()
    },
  }
}
