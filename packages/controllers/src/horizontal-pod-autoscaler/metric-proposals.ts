import type { DeepReadonly } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { MetricsProvider, PodQuantities } from '../metrics-provider.ts'
import type { ReadonlyPod } from '../workloads/objects.ts'
import { goSelectorText } from '../workloads/selector-text.ts'
import { milliOf, quantityOf } from './metrics.ts'
import type { MetricIdentifier, MetricSpec, MetricTarget } from './objects.ts'
import {
  type Proposal,
  replicasForAverage,
  replicasForShare,
  replicasForTotal,
  replicasForUtilization,
} from './replica-calculator.ts'

/** The replicas that one metric of an autoscaler proposes. */
export interface MetricProposal {
  readonly replicas: number
  /** Text for the condition, such as `cpu resource utilization (percentage of request)`. */
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

/** A metric that could not be read. Its message is used in the condition and the event. */
export class MetricFailure extends Error {
  /** Reason of the condition, such as `FailedGetResourceMetric`. */
  readonly reason: string
  /** The message prefixed with the failed metric, for the event FailedComputeMetricsReplicas. */
  readonly summary: string

  constructor(reason: string, { message, summary }: { readonly message: string; readonly summary: string }) {
    super(message)
    this.reason = reason
    this.summary = summary
  }
}

/** Reads a metric and computes replicas from it. @throws MetricFailure */
export async function proposeFor(metric: DeepReadonly<MetricSpec>, options: ProposalOptions): Promise<MetricProposal> {
  const { resource, containerResource, pods, object, external } = metric
  if (metric.type === 'Resource' && resource)
    return failing(['FailedGetResourceMetric', `failed to get ${resource.name} resource metric value`], () =>
      fromResource(metric.type, resource, options),
    )
  if (metric.type === 'ContainerResource' && containerResource)
    return failing(
      ['FailedGetContainerResourceMetric', `failed to get ${containerResource.container} container metric value`],
      () => fromResource(metric.type, containerResource, options),
    )
  if (metric.type === 'Pods' && pods)
    return failing(['FailedGetPodsMetric', 'failed to get pods metric value'], () => fromPods(pods, options))
  if (metric.type === 'Object' && object) {
    const average = object.target.averageValue === undefined ? '' : `: failed to get ${object.metric.name} object metric`
    return failing(['FailedGetObjectMetric', `failed to get object metric value${average}`], () => fromObject(object, options))
  }
  if (metric.type === 'External' && external) {
    const { name } = external.metric
    const which = external.target.averageValue === undefined ? `external metric ${name}` : `${name} external metric`
    const summary = `failed to get ${name} external metric value: failed to get ${which}`
    return failing(['FailedGetExternalMetric', summary], () => fromExternal(external, options))
  }
  const message = `unknown metric source type "${metric.type}"`
  throw new MetricFailure('InvalidMetricSourceType', { message, summary: message })
}

async function failing([reason, summary]: [string, string], run: () => Promise<MetricProposal>): Promise<MetricProposal> {
  try {
    return await run()
  } catch (error) {
    const message = textOf(error)
    throw new MetricFailure(reason, { message, summary: `${summary}: ${message}` })
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
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
  if (target.averageValue === undefined && target.averageUtilization === undefined) {
    const targets = 'neither an average utilization target nor an average value (usage) target'
    throw new Error(`invalid resource metric source: ${targets} was set`)
  }
  const query = { namespace, name, labelSelector, ...(container === undefined ? {} : { container }) }
  const given = { currentReplicas: specReplicas, pods, nowMs, resource: name, ...(container === undefined ? {} : { container }) }
  const member = type === 'Resource' ? 'resource' : 'containerResource'
  const identity = { name, ...(container === undefined ? {} : { container }) }
  if (target.averageValue !== undefined) {
    const average = milliOf(target.averageValue)
    const proposal = await prefixed(`failed to get ${name} usage`, async () =>
      replicasForAverage(samplesOf(await resourceUsage(provider, query)), average, given),
    )
    return {
      replicas: proposal.replicas,
      description: `${name} resource`,
      status: { type, [member]: { ...identity, current: { averageValue: quantityOf(proposal.average) } } },
    }
  }
  const { averageUtilization = 0 } = target
  const proposal = await prefixed(`failed to get ${name} utilization`, async () =>
    replicasForUtilization(samplesOf(await resourceUsage(provider, query)), averageUtilization, given),
  )
  const current = { averageUtilization: proposal.utilization, averageValue: quantityOf(proposal.average) }
  return {
    replicas: proposal.replicas,
    description: `${name} ${container === undefined ? '' : 'container '}resource utilization (percentage of request)`,
    status: { type, [member]: { ...identity, current } },
  }
}

async function prefixed<T>(prefix: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`${prefix}: ${textOf(error)}`, { cause: error })
  }
}

function resourceUsage(
  provider: MetricsProvider,
  query: Parameters<NonNullable<MetricsProvider['resource']>>[0],
): Promise<PodQuantities> {
  const absent = 'the server could not find the requested resource (get pods.metrics.k8s.io)'
  return prefixed(`unable to get metrics for resource ${query.name}`, async () => {
    const found = await fetched('resource', provider.resource?.bind(provider), { query, absent })
    if (Object.keys(found).length === 0) throw new Error(noMetrics('resource'))
    return found
  })
}

/**
 * Calls a function of the provider. @param absent message of the error when the provider has no such function: the API is
 * not registered
 */
async function fetched<Q, R>(
  api: string,
  read: ((query: Q) => R | Promise<R>) | undefined,
  { query, absent }: { readonly query: Q; readonly absent: string },
): Promise<R> {
  return prefixed(`unable to fetch metrics from ${api} metrics API`, async () => {
    if (read === undefined) throw new Error(absent)
    return read(query)
  })
}

const noMetrics = (api: string) => `no metrics returned from ${api} metrics API`
const noCustomApi = 'no custom metrics API (custom.metrics.k8s.io) registered'

async function fromPods(
  { metric, target }: { readonly metric: DeepReadonly<MetricIdentifier>; readonly target: DeepReadonly<MetricTarget> },
  { provider, namespace, labelSelector, specReplicas, pods, nowMs }: ProposalOptions,
): Promise<MetricProposal> {
  const { name } = metric
  const query = { namespace, name, labelSelector, metricSelector: selectorText(metric) }
  const given = { currentReplicas: specReplicas, pods, nowMs }
  const proposal = await prefixed(`unable to get metric ${name}`, async () => {
    const usage = samplesOf(await fetched('custom', provider.pods?.bind(provider), { query, absent: noCustomApi }))
    if (usage.size === 0) throw new Error(noMetrics('custom'))
    return replicasForAverage(usage, milliOf(target.averageValue ?? '0'), given)
  })
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
  const query = { namespace, name, labelSelector: selectorText(metric), object: describedObject }
  // The order of the members is that of the status of kube-controller-manager.
  const where = `${describedObject.kind} on ${namespace} ${describedObject.name}`
  const found = await fetched('custom', provider.object?.bind(provider), { query, absent: noCustomApi }).catch(
    (error: unknown) => {
      throw new Error(`unable to get metric ${name}: ${where}/${textOf(error)}`, { cause: error })
    },
  )
  const { proposal, current } = fromValue(milliOf(found), target, options)
  return {
    replicas: proposal.replicas,
    description:
      target.averageValue === undefined
        ? `${describedObject.kind} metric ${name}`
        : `external metric ${name}(${goSelectorText(metric.selector)})`,
    status: { type: 'Object', object: { metric: structuredClone(metric), describedObject: { ...describedObject }, current } },
  }
}

async function fromExternal(
  { metric, target }: DeepReadonly<NonNullable<MetricSpec['external']>>,
  options: ProposalOptions,
): Promise<MetricProposal> {
  const { provider, namespace } = options
  const { name } = metric
  const query = { namespace, name, labelSelector: selectorText(metric) }
  const selector = goSelectorText(metric.selector)
  const absent = `the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`
  const found = await prefixed(`unable to get external metric ${namespace}/${name}/${selector}`, async () => {
    const values = await fetched('external', provider.external?.bind(provider), { query, absent })
    if (values.length === 0) throw new Error(noMetrics('external'))
    return values
  })
  const total = found.reduce((sum, text) => sum + milliOf(text), 0)
  const { proposal, current } = fromValue(total, target, options)
  return {
    replicas: proposal.replicas,
    description: `external metric ${name}(${selector})`,
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
