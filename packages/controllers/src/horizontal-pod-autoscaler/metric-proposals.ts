import { type DeepReadonly, labelSelectorFromObject } from '@krmkit/meta'
import type { ReadonlyPod } from '../workloads/objects.ts'
import { type MetricsProvider, milliOf, type PodQuantities, quantityOf } from './metrics.ts'
import type { MetricIdentifier, MetricSpec, MetricTarget } from './objects.ts'
import {
  type Proposal,
  replicasForAverage,
  replicasForShare,
  replicasForTotal,
  replicasForUtilization,
} from './replica-calculator.ts'

/** What one metric of an autoscaler says. */
export interface MetricProposal {
  readonly replicas: number
  /** For the condition, such as `cpu resource utilization (percentage of request)`. */
  readonly description: string
  /** Entry of `status.currentMetrics`. */
  readonly status: object
}

export interface ProposalOptions {
  readonly provider: MetricsProvider
  readonly namespace: string
  /** Selector of the pods, and the pods. */
  readonly labelSelector: string
  readonly pods: readonly ReadonlyPod[]
  readonly specReplicas: number
  readonly statusReplicas: number
  readonly nowMs: number
}

/** A metric that could not be read. */
export class MetricFailure extends Error {
  /** Reason of the condition, such as `FailedGetResourceMetric`. */
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Reads a metric and computes replicas from it. @throws MetricFailure */
export async function proposeFor(metric: DeepReadonly<MetricSpec>, options: ProposalOptions): Promise<MetricProposal> {
  const { resource, containerResource, pods, object, external } = metric
  if (metric.type === 'Resource' && resource)
    return failing('FailedGetResourceMetric', `failed to get ${resource.name} utilization`, () =>
      fromResource(metric.type, resource, options),
    )
  if (metric.type === 'ContainerResource' && containerResource)
    return failing('FailedGetContainerResourceMetric', `failed to get ${containerResource.name} usage`, () =>
      fromResource(metric.type, containerResource, options),
    )
  if (metric.type === 'Pods' && pods)
    return failing('FailedGetPodsMetric', 'failed to get pods metric value', () => fromPods(pods, options))
  if (metric.type === 'Object' && object)
    return failing('FailedGetObjectMetric', 'failed to get object metric value', () => fromObject(object, options))
  if (metric.type === 'External' && external)
    return failing('FailedGetExternalMetric', 'failed to get external metric', () => fromExternal(external, options))
  throw new MetricFailure('InvalidMetricSourceType', `unknown metric source type "${metric.type}"`)
}

async function failing(reason: string, prefix: string, run: () => Promise<MetricProposal>): Promise<MetricProposal> {
  try {
    return await run()
  } catch (error) {
    throw new MetricFailure(reason, `${prefix}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function fromResource(
  type: string,
  {
    name,
    container,
    target,
  }: { readonly name: string; readonly container?: string; readonly target: DeepReadonly<MetricTarget> },
  options: ProposalOptions,
): Promise<MetricProposal> {
  const { provider, namespace, labelSelector, specReplicas, pods, nowMs } = options
  const found = await resourceUsage(provider, {
    namespace,
    name,
    labelSelector,
    ...(container === undefined ? {} : { container }),
  })
  const usage = samplesOf(found)
  const given = { currentReplicas: specReplicas, pods, nowMs, resource: name, ...(container === undefined ? {} : { container }) }
  const member = type === 'Resource' ? 'resource' : 'containerResource'
  const identity = { name, ...(container === undefined ? {} : { container }) }
  if (target.averageValue !== undefined) {
    const proposal = replicasForAverage(usage, milliOf(target.averageValue), given)
    return {
      replicas: proposal.replicas,
      description: `${name} ${container === undefined ? '' : 'container '}resource`,
      status: { type, [member]: { ...identity, current: { averageValue: quantityOf(proposal.average) } } },
    }
  }
  if (target.averageUtilization === undefined)
    throw new Error('invalid resource metric source: neither a utilization target nor a value target was set')
  const proposal = replicasForUtilization(usage, target.averageUtilization, given)
  const current = { averageUtilization: proposal.utilization, averageValue: quantityOf(proposal.average) }
  return {
    replicas: proposal.replicas,
    description: `${name} ${container === undefined ? '' : 'container '}resource utilization (percentage of request)`,
    status: { type, [member]: { ...identity, current } },
  }
}

async function resourceUsage(
  provider: MetricsProvider,
  query: Parameters<NonNullable<MetricsProvider['resource']>>[0],
): Promise<PodQuantities> {
  const failed = (why: string) => new Error(`unable to get metrics for resource ${query.name}: ${why}`)
  if (provider.resource === undefined) throw failed('no metrics returned from resource metrics API')
  try {
    return await provider.resource(query)
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error))
  }
}

async function fromPods(
  { metric, target }: { readonly metric: DeepReadonly<MetricIdentifier>; readonly target: DeepReadonly<MetricTarget> },
  { provider, namespace, labelSelector, specReplicas, pods, nowMs }: ProposalOptions,
): Promise<MetricProposal> {
  const { name } = metric
  const metricSelector = selectorText(metric)
  const usage = samplesOf((await provider.pods?.({ namespace, name, labelSelector, metricSelector })) ?? {})
  if (usage.size === 0) throw new Error(`unable to get metric ${name}: no metrics returned from custom metrics API`)
  const proposal = replicasForAverage(usage, milliOf(target.averageValue ?? '0'), { currentReplicas: specReplicas, pods, nowMs })
  const status = {
    type: 'Pods',
    pods: { metric: structuredClone(metric), current: { averageValue: quantityOf(proposal.average) } },
  }
  return { replicas: proposal.replicas, description: `pods metric ${name}`, status }
}

async function fromObject(
  { metric, target, describedObject }: DeepReadonly<NonNullable<MetricSpec['object']>>,
  options: ProposalOptions,
): Promise<MetricProposal> {
  const { provider, namespace } = options
  const { name } = metric
  const found = await provider.object?.({ namespace, name, labelSelector: selectorText(metric), object: describedObject })
  if (found === undefined) throw new Error(`unable to get metric ${name}: no metrics returned from custom metrics API`)
  const { proposal, current } = fromValue(milliOf(found), target, options)
  return {
    replicas: proposal.replicas,
    description: target.averageValue === undefined ? `${describedObject.kind} metric ${name}` : `external metric ${name}`,
    status: { type: 'Object', object: { metric: structuredClone(metric), describedObject: { ...describedObject }, current } },
  }
}

async function fromExternal(
  { metric, target }: DeepReadonly<NonNullable<MetricSpec['external']>>,
  options: ProposalOptions,
): Promise<MetricProposal> {
  const { provider, namespace } = options
  const { name } = metric
  const found = (await provider.external?.({ namespace, name, labelSelector: selectorText(metric) })) ?? []
  if (found.length === 0)
    throw new Error(`unable to get external metric ${namespace}/${name}: no metrics returned from external metrics API`)
  const total = found.reduce((sum, text) => sum + milliOf(text), 0)
  const { proposal, current } = fromValue(total, target, options)
  return {
    replicas: proposal.replicas,
    description: `external metric ${name}(${JSON.stringify(metric.selector ?? null)})`,
    status: { type: 'External', external: { metric: structuredClone(metric), current } },
  }
}

function fromValue(
  value: number,
  target: DeepReadonly<MetricTarget>,
  { specReplicas, statusReplicas, pods, nowMs }: ProposalOptions,
): { readonly proposal: Proposal; readonly current: object } {
  if (target.averageValue !== undefined) {
    const proposal = replicasForShare(value, milliOf(target.averageValue), statusReplicas)
    return { proposal, current: { averageValue: quantityOf(proposal.average) } }
  }
  const proposal = replicasForTotal(value, milliOf(target.value ?? '0'), { currentReplicas: specReplicas, pods, nowMs })
  return { proposal, current: { value: quantityOf(value) } }
}

function samplesOf(found: PodQuantities): ReadonlyMap<string, number> {
  return new Map(Object.entries(found).map(([name, text]) => [name, milliOf(text)]))
}

function selectorText({ selector }: DeepReadonly<MetricIdentifier>): string {
  return selector == null ? '' : String(labelSelectorFromObject(selector))
}
