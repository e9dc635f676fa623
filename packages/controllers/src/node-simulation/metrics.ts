import { utf8Bytes } from '@krmkit/base/bytes'
import { formatTime, Quantity } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { containerContext } from './log.ts'
import type { NodeSimulation, SimulatedPod } from './simulation.ts'

/** The aggregated API `metrics.k8s.io`, from the declared usage of simulated containers. */

const groupVersion = 'metrics.k8s.io/v1beta1'
const root = `/apis/${groupVersion}`
const windowSeconds = '10s'

export function metricsHandler(simulation: NodeSimulation): Handler {
  return async (request) => {
    const [resource = '', ...rest] = request.path
      .slice(root.length + 1)
      .split('/')
      .map(decodeURIComponent)
    if (request.method !== 'GET') return failure(405, 'MethodNotAllowed')
    if (request.path === root || request.path === `${root}/`) return json(200, resourceList)
    if (resource === 'nodes') return nodes(simulation, rest[0])
    if (resource === 'pods') return pods(simulation, request, {})
    if (resource === 'namespaces' && rest[1] === 'pods') return pods(simulation, request, { namespace: rest[0], name: rest[2] })
    return failure(404, 'NotFound')
  }
}

const verbs = ['get', 'list']
const resourceList = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: [
    { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs },
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs },
  ],
}

function nodes(simulation: NodeSimulation, name: string | undefined): ApiResponse {
  const all = [...simulation.pods()]
  const items = simulation.nodes
    .filter((node) => !simulation.isFailed(node) && (name === undefined || node === name))
    .map((node) => {
      const own = all.filter(({ pod }) => pod.spec?.nodeName === node).flatMap((pod) => containerUsages(simulation, pod))
      const usage = { cpu: sum(own, 'cpu'), memory: sum(own, 'memory') }
      return { ...header(simulation, 'NodeMetrics', { name: node }), usage }
    })
  return answer('NodeMetricsList', items, name)
}

function pods(
  simulation: NodeSimulation,
  request: ApiRequest,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
): ApiResponse {
  const selector = new URLSearchParams(request.query).get('labelSelector') ?? ''
  const wanted = selector === '' ? [] : selector.split(',').map((part) => part.split(/==?/))
  const items = [...simulation.pods()]
    .filter(({ pod: { metadata } }) => namespace === undefined || metadata.namespace === namespace)
    .filter(({ pod: { metadata } }) => name === undefined || metadata.name === name)
    .filter(({ pod: { metadata } }) => wanted.every(([key = '', value]) => metadata.labels?.[key] === value))
    .filter(({ runtime }) => runtime.containers.some((run) => run.isRunning))
    .map((found) => {
      const { name: podName = '', namespace: own = '', labels = {} } = found.pod.metadata
      const containers = containerUsages(simulation, found)
      return { ...header(simulation, 'PodMetrics', { name: podName, namespace: own, labels }), containers }
    })
  return answer('PodMetricsList', items, name)
}

/** Current usage of a running container. */
export interface ContainerUsage {
  readonly name: string
  readonly usage: Readonly<Record<string, string>>
}

/** Returns the usage of the running containers of a pod. */
export function containerUsages(simulation: NodeSimulation, { pod, runtime }: SimulatedPod): ContainerUsage[] {
  return runtime.containers
    .filter((run) => run.isRunning)
    .map((run) => {
      const { usage } = run.behavior
      const declared = typeof usage === 'function' ? usage(containerContext(pod, run, simulation.nowMs())) : usage
      const requests = pod.spec?.containers?.find(({ name }) => name === run.name)?.resources?.requests ?? {}
      return { name: run.name, usage: declared ?? { cpu: half(requests['cpu']), memory: half(requests['memory']) } }
    })
}

function half(amount: string | undefined): string {
  return amount === undefined ? '0' : `${Quantity.parse(amount).milliValue() / 2n}m`
}

function sum(usages: readonly ContainerUsage[], resource: string): string {
  let total = 0n
  for (const { usage } of usages) total += Quantity.parse(usage[resource] ?? '0').milliValue()
  return `${total}m`
}

function header(simulation: NodeSimulation, kind: string, metadata: object) {
  return { kind, apiVersion: groupVersion, metadata, timestamp: formatTime(simulation.nowMs()), window: windowSeconds }
}

function answer(kind: string, items: readonly object[], name: string | undefined): ApiResponse {
  if (name === undefined) return json(200, { kind, apiVersion: groupVersion, metadata: {}, items })
  return items[0] === undefined ? failure(404, 'NotFound') : json(200, items[0])
}

function failure(code: number, reason: string): ApiResponse {
  return json(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: reason, reason, code })
}

function json(status: number, value: object): ApiResponse {
  const bytes = utf8Bytes(JSON.stringify(value))
  return { status, headers: { 'content-type': 'application/json' }, body: { kind: 'bytes', bytes } }
}
