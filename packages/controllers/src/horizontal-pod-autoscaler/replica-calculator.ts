import { parseTime } from '@krmkit/meta'
import type { ReadonlyPod } from '../workloads/objects.ts'
import { isReady, podCondition } from '../workloads/pod-state.ts'
import { milliOf } from './metrics.ts'

/** Computes replicas from metrics. Pure functions; amounts are in thousandths. */

/** A relative difference between usage and target up to this value does not change the replicas. */
const tolerance = 0.1
/** During this time after its start, a pod whose Ready condition is False does not contribute CPU samples. */
const cpuInitializationMs = 5 * 60_000
const initialReadinessDelayMs = 30_000

export interface Proposal {
  readonly replicas: number
  /** Average usage of the counted pods. */
  readonly average: number
  /** In percent of the requests. */
  readonly utilization?: number
}

export interface PodUsageOptions {
  readonly currentReplicas: number
  readonly pods: readonly ReadonlyPod[]
  readonly nowMs: number
  readonly resource?: string
}

/** Computes replicas from the usage of each pod and a target for the average. @throws Error without usable samples */
export function replicasForAverage(usage: ReadonlyMap<string, number>, target: number, options: PodUsageOptions): Proposal {
  return propose(usage, options, {
    ratio: (samples) => average(samples) / target,
    average,
    assumed: () => target,
  })
}

/**
 * Computes replicas from the usage of each pod in percent of its requests.
 *
 * @throws Error without usable samples, or when a container has no request
 */
export function replicasForUtilization(
  usage: ReadonlyMap<string, number>,
  targetPercent: number,
  options: PodUsageOptions & { readonly container?: string },
): Proposal {
  const requests = new Map(options.pods.map((pod) => [pod.metadata.name ?? '', requestOf(pod, options)]))
  const percent = (samples: ReadonlyMap<string, number>) => {
    const requested = [...samples.keys()].reduce((sum, name) => sum + (requests.get(name) ?? 0), 0)
    if (requested === 0) throw new Error('no metrics returned matched known pods')
    return Math.trunc((sumOf(samples) * 100) / requested)
  }
  const proposal = propose(usage, options, {
    ratio: (samples) => percent(samples) / targetPercent,
    average,
    assumed: (name) => ((requests.get(name) ?? 0) * Math.max(100, targetPercent)) / 100,
    percent,
  })
  return proposal
}

/** Computes replicas from a value that all pods share. */
export function replicasForTotal(value: number, target: number, options: PodUsageOptions): Proposal {
  const { currentReplicas, pods } = options
  const ratio = value / target
  if (currentReplicas === 0) return { replicas: Math.ceil(ratio), average: value }
  if (isWithinTolerance(ratio)) return { replicas: currentReplicas, average: value }
  if (pods.length === 0)
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count')
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length
  return { replicas: Math.ceil(ratio * ready), average: value }
}

/** Computes replicas from a total value and the target share of each pod. */
export function replicasForShare(value: number, targetShare: number, statusReplicas: number): Proposal {
  const ratio = value / (targetShare * statusReplicas)
  const replicas = isWithinTolerance(ratio) ? statusReplicas : Math.ceil(value / targetShare)
  return { replicas, average: Math.ceil(value / statusReplicas) }
}

interface Measure {
  ratio(samples: ReadonlyMap<string, number>): number
  average(samples: ReadonlyMap<string, number>): number
  /** Assumed usage of a pod without a sample when the other pods would scale down. */
  assumed(name: string): number
  percent?(samples: ReadonlyMap<string, number>): number
}

function propose(usage: ReadonlyMap<string, number>, options: PodUsageOptions, measure: Measure): Proposal {
  const { currentReplicas, pods } = options
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const { ready, unready, missing } = groupPods(usage, options)
  const samples = new Map(ready.map((name) => [name, usage.get(name) ?? 0]))
  if (samples.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  const ratio = measure.ratio(samples)
  const known = {
    average: measure.average(samples),
    ...(measure.percent === undefined ? {} : { utilization: measure.percent(samples) }),
  }
  const countsUnready = unready.length > 0 && ratio > 1
  if (!countsUnready && missing.length === 0)
    return { ...known, replicas: isWithinTolerance(ratio) ? currentReplicas : Math.ceil(ratio * samples.size) }
  // Assumed usage of pods without a sample makes the change smaller.
  if (ratio !== 1) for (const name of missing) samples.set(name, ratio < 1 ? measure.assumed(name) : 0)
  if (countsUnready) for (const name of unready) samples.set(name, 0)
  const careful = measure.ratio(samples)
  const isReversed = (ratio < 1 && careful > 1) || (ratio > 1 && careful < 1)
  const replicas = Math.ceil(careful * samples.size)
  const isOpposite = (careful < 1 && replicas > currentReplicas) || (careful > 1 && replicas < currentReplicas)
  return { ...known, replicas: isWithinTolerance(careful) || isReversed || isOpposite ? currentReplicas : replicas }
}

function groupPods(usage: ReadonlyMap<string, number>, { pods, resource, nowMs }: PodUsageOptions) {
  const groups = { ready: [] as string[], unready: [] as string[], missing: [] as string[] }
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    const phase = pod.status?.phase
    if (deletionTimestamp !== undefined || phase === 'Failed') continue
    if (phase === 'Pending') groups.unready.push(name)
    else if (!usage.has(name)) groups.missing.push(name)
    else if (resource === 'cpu' && !isWarm(pod, nowMs)) groups.unready.push(name)
    else groups.ready.push(name)
  }
  return groups
}

/** Whether the CPU usage of a pod is representative: startup usage is not. */
function isWarm(pod: ReadonlyPod, nowMs: number): boolean {
  const condition = podCondition(pod, 'Ready')
  const { startTime } = pod.status ?? {}
  if (condition === undefined || startTime == null) return false
  const startMs = parseTime(startTime)
  const isUnready = condition.status === 'False'
  if (startMs + cpuInitializationMs > nowMs) return !isUnready
  const changedMs = condition.lastTransitionTime == null ? 0 : parseTime(condition.lastTransitionTime)
  return !(isUnready && startMs + initialReadinessDelayMs > changedMs)
}

function requestOf(
  { metadata, spec }: ReadonlyPod,
  { resource = '', container }: PodUsageOptions & { readonly container?: string },
): number {
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? []
  let sum = 0
  for (const { name, resources } of [...(spec?.containers ?? []), ...sidecars]) {
    if (container !== undefined && container !== name) continue
    const request = resources?.requests?.[resource]
    if (request === undefined) throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`)
    sum += milliOf(request)
  }
  return sum
}

const sumOf = (samples: ReadonlyMap<string, number>): number => [...samples.values()].reduce((sum, value) => sum + value, 0)
const average = (samples: ReadonlyMap<string, number>): number => Math.trunc(sumOf(samples) / samples.size)
const isWithinTolerance = (ratio: number): boolean => ratio >= 1 - tolerance && ratio <= 1 + tolerance
