import { Quantity } from '@krmkit/meta'
import { containerUsages } from './metrics.ts'
import type { NodeSimulation } from './simulation.ts'

/** The metrics that the kubelet of a simulated node serves, in the text format of Prometheus. */

type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly labels: Labels
  readonly value: number
}

interface ContainerSample {
  readonly labels: { readonly container: string; readonly namespace: string; readonly pod: string }
  readonly cpuSeconds: number
  readonly memoryBytes: number
  readonly startedAtSeconds: number
}

/** `/metrics`: counts of running pods and containers of the node. */
export function kubeletMetrics(simulation: NodeSimulation, node: string): string {
  const containers = containersOf(simulation, node)
  const podCount = new Set(containers.map(({ labels: { namespace, pod } }) => `${namespace}/${pod}`)).size
  return [
    family('kubelet_node_name', 'gauge', [{ labels: { node }, value: 1 }]),
    family('kubelet_running_containers', 'gauge', [{ labels: { container_state: 'running' }, value: containers.length }]),
    family('kubelet_running_pods', 'gauge', [{ labels: {}, value: podCount }]),
  ].join('')
}

/** `/metrics/resource`: usage of the node, its pods and their containers, as declared. CPU time counts from the start of each container. */
export function resourceMetrics(simulation: NodeSimulation, node: string): string {
  const containers = containersOf(simulation, node)
  const by = (value: (sample: ContainerSample) => number) =>
    containers.map((sample) => ({ labels: sample.labels, value: value(sample) }))
  const cpu = by(({ cpuSeconds }) => cpuSeconds)
  const memory = by(({ memoryBytes }) => memoryBytes)
  return [
    family('container_cpu_usage_seconds_total', 'counter', cpu),
    family('container_memory_working_set_bytes', 'gauge', memory),
    family(
      'container_start_time_seconds',
      'gauge',
      by(({ startedAtSeconds }) => startedAtSeconds),
    ),
    family('node_cpu_usage_seconds_total', 'counter', [{ labels: {}, value: sum(cpu) }]),
    family('node_memory_working_set_bytes', 'gauge', [{ labels: {}, value: sum(memory) }]),
    family('pod_cpu_usage_seconds_total', 'counter', byPod(cpu)),
    family('pod_memory_working_set_bytes', 'gauge', byPod(memory)),
    family('resource_scrape_error', 'gauge', [{ labels: {}, value: 0 }]),
  ].join('')
}

function containersOf(simulation: NodeSimulation, node: string): ContainerSample[] {
  const nowMs = simulation.nowMs()
  return [...simulation.pods()]
    .filter(({ pod }) => pod.spec?.nodeName === node)
    .flatMap((found) => {
      const { name: pod = '', namespace = '' } = found.pod.metadata
      return containerUsages(simulation, found).map(({ name: container, usage }) => {
        const startedAtMs = found.runtime.containers.find(({ name }) => name === container)?.startedAtMs ?? nowMs
        const cores = amount(usage['cpu'])
        return {
          labels: { container, namespace, pod },
          cpuSeconds: (cores * (nowMs - startedAtMs)) / 1000,
          memoryBytes: amount(usage['memory']),
          startedAtSeconds: startedAtMs / 1000,
        }
      })
    })
}

function byPod(samples: readonly { readonly labels: ContainerSample['labels']; readonly value: number }[]): Sample[] {
  const pods = new Map<string, { labels: Labels; value: number }>()
  for (const { labels, value } of samples) {
    const { namespace, pod } = labels
    const key = `${namespace}/${pod}`
    pods.set(key, { labels: { namespace, pod }, value: (pods.get(key)?.value ?? 0) + value })
  }
  return [...pods.values()]
}

function amount(quantity = '0'): number {
  return Number(Quantity.parse(quantity).milliValue()) / 1000
}

function sum(samples: readonly { readonly value: number }[]): number {
  return samples.reduce((total, { value }) => total + value, 0)
}

/** Label values are not escaped, because object names need no escapes. */
function family(name: string, type: 'counter' | 'gauge', samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`)
    return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
  })
  return `# TYPE ${name} ${type}\n${lines.join('')}`
}
