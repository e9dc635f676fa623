import { type Informer, type ResourceType, subresourceType } from '@krmkit/client'
import { formatTime, parseLabelSelector } from '@krmkit/meta'
import type { LabelSelector } from '@krmkit/meta/selectors'
import { errorText, ObjectEvents } from '../events/object-events.ts'
import { ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import type { MetricsProvider } from '../metrics-provider.ts'
import { pods, queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { PodsByLabel } from '../workloads/pods-by-label.ts'
import { MetricFailure, type MetricProposal, proposeFor } from './metric-proposals.ts'
import { serverMetrics } from './metrics.ts'
import {
  type Autoscaler,
  type AutoscalerCondition,
  type AutoscalerStatus,
  autoscalers,
  type ReadonlyAutoscaler,
  type Scale,
} from './objects.ts'
import { ScaleHistory } from './scale-limits.ts'

/** Interval at which an autoscaler reads its metrics. */
const syncPeriodMs = 15_000

/** Scales workloads to what their metrics require. Reads the metrics of `metrics` of the options, otherwise of `metrics.k8s.io`. */
export const horizontalPodAutoscalerController: Controller = {
  name: 'horizontal-pod-autoscaler-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new AutoscalerController(context).subscriptions),
}

interface Rescale {
  readonly type: ResourceType<Scale>
  readonly scale: Scale
  readonly desired: number
  readonly reason: string
  readonly state: StatusWriter
}

/** A failure that is also reported in the conditions. */
class ScaleFailure extends Error {}

class AutoscalerController {
  readonly #context: ControllerContext
  readonly #provider: MetricsProvider
  readonly #autoscalers: Informer<Autoscaler>
  readonly #events: ObjectEvents<Autoscaler>
  readonly #pods: PodsByLabel
  readonly #histories = new Map<string, ScaleHistory>()
  /** The pod selector of each autoscaler, by key. */
  readonly #selectors = new Map<string, LabelSelector>()
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { client, informers, rateLimit, signal } = context
    this.#context = context
    this.#provider = context.metrics ?? serverMetrics(client, { signal })
    this.#events = new ObjectEvents(context, autoscalers, 'horizontal-pod-autoscaler')
    this.#autoscalers = informers.of(autoscalers)
    this.#pods = new PodsByLabel(context)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    this.subscriptions = [
      this.#autoscalers.on({
        added: (autoscaler) => queue.add(queueKey(autoscaler)),
        updated(autoscaler, previous) {
          if (!sameJson(autoscaler.spec, previous.spec)) queue.add(queueKey(autoscaler))
        },
        deleted: (autoscaler) => {
          this.#histories.delete(queueKey(autoscaler))
          this.#selectors.delete(queueKey(autoscaler))
        },
      }),
    ]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    const { informers, clock } = this.#context
    if (!informers.of(pods).hasSynced) await informers.of(pods).synced
    const { namespace, name } = splitKey(key)
    const autoscaler = this.#autoscalers.get(name, namespace)
    if (autoscaler?.spec === undefined) return undefined
    const status = { desiredReplicas: 0, ...(structuredClone(autoscaler.status ?? {}) as Partial<AutoscalerStatus>) }
    const state = new StatusWriter(status, clock.now())
    try {
      await this.#scale(key, autoscaler, state)
    } catch (error) {
      if (!(error instanceof ScaleFailure)) throw error
      this.#context.onError(error)
    }
    await this.#writeStatus(autoscaler, state.status)
    return { requeueAfterMs: syncPeriodMs }
  }

  async #scale(key: string, autoscaler: ReadonlyAutoscaler, state: StatusWriter): Promise<void> {
    const { clock } = this.#context
    const { minReplicas = 1, maxReplicas = 1 } = autoscaler.spec ?? {}
    const { type, scale } = await this.#readScale(autoscaler, state)
    const current = scale.spec?.replicas ?? 0
    const history = this.#histories.get(key) ?? new ScaleHistory()
    this.#histories.set(key, history)
    history.begin(current, clock.now())
    state.status.currentReplicas = current
    let desired = current
    let reason = ''
    state.status.currentMetrics = []
    if (current === 0 && minReplicas !== 0) {
      desired = 0
      state.set('ScalingActive', 'False', {
        reason: 'ScalingDisabled',
        message: 'scaling is disabled since the replica count of the target is zero',
      })
    } else if (current > maxReplicas) {
      desired = maxReplicas
      reason = 'Current number of replicas above Spec.MaxReplicas'
    } else if (current < minReplicas) {
      desired = minReplicas
      reason = 'Current number of replicas below Spec.MinReplicas'
    } else {
      const metrics = await this.#propose(autoscaler, { scale, state })
      const proposed = Math.max(...metrics.map(({ replicas }) => replicas))
      const highest = metrics.find(({ replicas }) => replicas === proposed)?.description ?? ''
      reason = proposed > current ? `${highest} above target` : proposed < current ? 'All metrics below target' : ''
      const limited = history.limit(autoscaler, { current, desired: proposed }, clock.now())
      state.set('AbleToScale', 'True', limited.ableToScale)
      state.set('ScalingLimited', limited.scalingLimited.status, limited.scalingLimited)
      desired = limited.replicas
    }
    if (desired !== current) {
      await this.#writeScale(autoscaler, { type, scale, desired, reason, state })
      history.recordChange(desired - current, clock.now())
      state.status.lastScaleTime = formatTime(clock.now())
    }
    state.status.desiredReplicas = desired
  }

  async #readScale(
    autoscaler: ReadonlyAutoscaler,
    state: StatusWriter,
  ): Promise<{ readonly type: ResourceType<Scale>; readonly scale: Scale }> {
    const { client, monitors, signal } = this.#context
    const { metadata, spec } = autoscaler
    const { apiVersion = 'v1', kind = '', name = '' } = spec?.scaleTargetRef ?? {}
    try {
      const resource = (await monitors.discovered()).ofKind(apiVersion, kind)
      if (resource === undefined) throw new Error(`no matches for kind "${kind}" in group "${apiVersion.split('/')[0]}"`)
      const type = subresourceType<Scale>(resource, { name: 'scale', apiVersion: 'autoscaling/v1', kind: 'Scale' })
      const scale = await client.get(type, name, { namespace: metadata.namespace ?? '', signal })
      const message = "the HPA controller was able to get the target's current scale"
      state.set('AbleToScale', 'True', { reason: 'SucceededGetScale', message })
      return { type, scale }
    } catch (error) {
      this.#events.warning(autoscaler, 'FailedGetScale', errorText(error))
      const message = `the HPA controller was unable to get the target's current scale: ${errorText(error)}`
      state.set('AbleToScale', 'False', { reason: 'FailedGetScale', message })
      throw new ScaleFailure(errorText(error), { cause: error })
    }
  }

  async #writeScale(autoscaler: ReadonlyAutoscaler, { type, scale, desired, reason, state }: Rescale): Promise<void> {
    const size = `New size: ${desired}; reason: ${reason}`
    const { client, fieldManager, signal } = this.#context
    try {
      await client.update(type, { ...scale, spec: { ...scale.spec, replicas: desired } }, { fieldManager, signal })
    } catch (error) {
      this.#events.warning(autoscaler, 'FailedRescale', `${size}; error: ${errorText(error)}`)
      const message = `the HPA controller was unable to update the target scale: ${errorText(error)}`
      state.set('AbleToScale', 'False', { reason: 'FailedUpdateScale', message })
      throw new ScaleFailure(errorText(error), { cause: error })
    }
    const message = `the HPA controller was able to update the target scale to ${desired}`
    state.set('AbleToScale', 'True', { reason: 'SucceededRescale', message })
    this.#events.normal(autoscaler, 'SuccessfulRescale', size)
  }

  /** Reads all metrics. A metric that cannot be read prevents scaling down. */
  async #propose(
    autoscaler: ReadonlyAutoscaler,
    { scale, state }: { readonly scale: Scale; readonly state: StatusWriter },
  ): Promise<readonly MetricProposal[]> {
    const { namespace = '' } = autoscaler.metadata
    const labelSelector = scale.status?.selector ?? ''
    const selected = this.#selectPods(autoscaler, { namespace, labelSelector, state })
    const options = {
      provider: this.#provider,
      namespace,
      labelSelector,
      pods: selected,
      specReplicas: scale.spec?.replicas ?? 0,
      statusReplicas: scale.status?.replicas ?? 0,
      nowMs: this.#context.clock.now(),
    }
    const proposals: MetricProposal[] = []
    const failures: MetricFailure[] = []
    const statuses: object[] = []
    for (const metric of autoscaler.spec?.metrics ?? []) {
      try {
        const proposal = await proposeFor(metric, options)
        proposals.push(proposal)
        statuses.push(proposal.status)
      } catch (error) {
        if (!(error instanceof MetricFailure)) throw error
        failures.push(error)
        this.#events.warning(autoscaler, error.reason, error.message)
        statuses.push({ type: '' })
      }
    }
    state.status.currentMetrics = statuses
    const best = proposals.reduce<MetricProposal | undefined>(
      (most, proposal) => (most !== undefined && most.replicas >= proposal.replicas ? most : proposal),
      undefined,
    )
    const [failure] = failures
    if (best === undefined || (failure !== undefined && best.replicas < options.specReplicas)) {
      const message = `the HPA was unable to compute the replica count: ${failure?.message ?? 'no metrics'}`
      state.set('ScalingActive', 'False', { reason: failure?.reason ?? 'InvalidMetricSourceType', message })
      const count = `${failures.length} invalid out of ${autoscaler.spec?.metrics?.length ?? 0}`
      const text = `invalid metrics (${count}), first error is: ${failure?.summary ?? 'no metrics'}`
      this.#events.warning(autoscaler, 'FailedComputeMetricsReplicas', text)
      throw new ScaleFailure(message)
    }
    const message = `the HPA was able to successfully calculate a replica count from ${best.description}`
    state.set('ScalingActive', 'True', { reason: 'ValidMetricFound', message })
    return proposals
  }

  #selectPods(
    autoscaler: ReadonlyAutoscaler,
    {
      namespace,
      labelSelector,
      state,
    }: { readonly namespace: string; readonly labelSelector: string; readonly state: StatusWriter },
  ): readonly ReadonlyPod[] {
    const key = queueKey(autoscaler)
    if (labelSelector === '') {
      this.#events.warning(autoscaler, 'SelectorRequired', 'selector is required')
      this.#events.warning(autoscaler, 'FailedComputeMetricsReplicas', 'selector is required')
      const message = "the HPA target's scale is missing a selector"
      state.set('ScalingActive', 'False', { reason: 'InvalidSelector', message })
      throw new ScaleFailure('selector is required')
    }
    const selector = parseLabelSelector(labelSelector)
    this.#selectors.set(key, selector)
    const labels = Object.fromEntries(labelSelector.split(',').flatMap((part) => equality(part)))
    const { informers } = this.#context
    const candidates =
      Object.keys(labels).length === 0 ? informers.of(pods).list({ namespace }) : this.#pods.select(namespace, labels)
    const selected = candidates.filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
    const others = [...this.#selectors].filter(
      ([other, otherSelector]) =>
        splitKey(other).namespace === namespace && selected.some(({ metadata }) => otherSelector.matches(metadata.labels ?? {})),
    )
    if (others.length > 1) {
      const message = `pods by selector ${labelSelector} are controlled by multiple HPAs: [${others.map(([other]) => other).join(' ')}]`
      this.#events.warning(autoscaler, 'AmbiguousSelector', message)
      this.#events.warning(autoscaler, 'FailedComputeMetricsReplicas', message)
      state.set('ScalingActive', 'False', { reason: 'AmbiguousSelector', message })
      throw new ScaleFailure(message)
    }
    return selected
  }

  /** Writes the status against the version that was read. A conflict is resolved in the next period. */
  async #writeStatus(autoscaler: ReadonlyAutoscaler, status: AutoscalerStatus): Promise<void> {
    if (sameJson(autoscaler.status ?? {}, status)) return
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(structuredClone(autoscaler) as Autoscaler), status }
    const request = client.update(autoscalers, changed, { subresource: 'status', fieldManager, signal })
    await ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}

/** Changes the status of an autoscaler. */
class StatusWriter {
  readonly status: AutoscalerStatus
  readonly #now: string

  constructor(status: AutoscalerStatus, nowMs: number) {
    this.status = status
    this.#now = formatTime(nowMs)
  }

  set(type: string, status: string, { reason, message }: { readonly reason: string; readonly message: string }): void {
    const conditions = this.status.conditions ?? []
    const before = conditions.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? this.#now) : this.#now
    const condition: AutoscalerCondition = { type, status, lastTransitionTime, reason, message }
    this.status.conditions =
      before === undefined ? [...conditions, condition] : conditions.map((each) => (each === before ? condition : each))
  }
}

/** Returns the key and value of a requirement `key=value`. */
function equality(part: string): readonly (readonly [string, string])[] {
  const match = /^([^=!,() ]+)={1,2}([^=!,() ]*)$/.exec(part.trim())
  return match === null ? [] : [[match[1] ?? '', match[2] ?? '']]
}
