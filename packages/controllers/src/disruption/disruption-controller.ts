import type { Informer } from '@krmkit/client'
import type { DeepReadonly } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { controllerOf } from '@krmkit/meta/validation'
import { errorText, ObjectEvents } from '../events/object-events.ts'
import { ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { PodsByLabel } from '../workloads/pods-by-label.ts'
import { goSelectorText } from '../workloads/selector-text.ts'
import {
  type Budget,
  type BudgetStatus,
  budgetStatus,
  budgets,
  countHealthy,
  desiredPods,
  disruptedPods,
  failedStatus,
  type Pod,
  pods,
} from './budget.ts'
import { expectedScale } from './scale.ts'

/**
 * Maintains the status of disruption budgets: how many pods they cover and how many disruptions are allowed. Starts the
 * informer of pods with the first budget.
 */
export const disruptionController: Controller = {
  name: 'disruption-controller',
  start: (context) => disposeSubscriptions(new DisruptionController(context).subscriptions),
}

class DisruptionController {
  readonly #context: ControllerContext
  readonly #budgets: Informer<Budget>
  readonly #events: ObjectEvents<Budget>
  readonly #podEvents: ObjectEvents<Pod>
  readonly subscriptions: (() => void)[] = []
  readonly #add: (budget: DeepReadonly<Budget>) => void
  #pods: Informer<Pod> | undefined
  #podsByLabel: PodsByLabel | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#events = new ObjectEvents(context, budgets, 'controllermanager')
    this.#podEvents = new ObjectEvents(context, pods, 'controllermanager')
    this.#budgets = context.informers.of(budgets)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key) })
    this.#add = ({ metadata: { namespace, name } }) => queue.add(`${namespace}/${name}`)
    const enqueue = (budget: DeepReadonly<Budget>) => {
      this.#watchPods()
      this.#add(budget)
    }
    this.subscriptions.push(this.#budgets.on({ added: enqueue, updated: enqueue }))
  }

  #watchPods(): void {
    if (this.#pods !== undefined) return
    this.#pods = this.#context.informers.of(pods)
    this.#podsByLabel = new PodsByLabel(this.#context)
    const enqueueBudgets = (pod: DeepReadonly<Pod>) => {
      const covering = this.#covering(pod)
      for (const budget of covering) this.#add(budget)
      if (covering.length > 1) this.#reportSeveral(pod, covering)
    }
    const unsubscribe = this.#pods.on({
      added: enqueueBudgets,
      updated: (pod, before) => {
        for (const budget of this.#covering(before)) this.#add(budget)
        enqueueBudgets(pod)
      },
      deleted: enqueueBudgets,
    })
    this.subscriptions.push(unsubscribe)
  }

  #covering(pod: DeepReadonly<Pod>): DeepReadonly<Budget>[] {
    return this.#budgets.list({ namespace: pod.metadata.namespace ?? '' }).filter((budget) => covers(budget, pod))
  }

  #reportSeveral(pod: DeepReadonly<Pod>, [first]: readonly DeepReadonly<Budget>[]): void {
    const [namespace, name, chosen] = [pod.metadata.namespace, pod.metadata.name, first?.metadata.name].map((text) =>
      JSON.stringify(text),
    )
    const message = `Pod ${namespace}/${name} matches multiple PodDisruptionBudgets.  Chose ${chosen} arbitrarily.`
    this.#podEvents.warning(pod, 'MultiplePodDisruptionBudgets', message)
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    const { clock } = this.#context
    const [namespace = '', name = ''] = key.split('/')
    const budget = this.#budgets.get(name, namespace)
    if (budget === undefined || this.#pods === undefined) return undefined
    if (!this.#pods.hasSynced) {
      void this.#pods.synced.then(
        () => this.#add(budget),
        () => undefined,
      )
      return undefined
    }
    const covered = this.#candidates(budget, namespace).filter((pod) => covers(budget, pod))
    if (covered.length === 0) this.#events.normal(budget, 'NoPods', 'No matching pods found')
    const now = clock.now()
    const disrupted = disruptedPods(budget, covered, now)
    let status: BudgetStatus
    let failure: unknown
    try {
      const wanted = await desiredPods(budget.spec ?? {}, covered.length, () => this.#scaleOf(budget, covered))
      const currentHealthy = countHealthy(covered, disrupted.pods)
      status = budgetStatus(budget, { ...wanted, currentHealthy, disruptedPods: disrupted.pods }, now)
    } catch (error) {
      failure = error
      const message = `Failed to calculate the number of expected pods: ${errorText(error)}`
      this.#events.warning(budget, 'CalculateExpectedPodCountFailed', message)
      status = failedStatus(budget, errorText(error), now)
    }
    await this.#write(budget, status)
    if (failure !== undefined) throw failure
    return disrupted.recheckAtMs === undefined ? undefined : { requeueAfterMs: Math.max(1, disrupted.recheckAtMs - now + 1) }
  }

  /** Returns the scale of the controllers of the pods of a budget, and reports pods without one. */
  #scaleOf(budget: DeepReadonly<Budget>, covered: readonly DeepReadonly<Pod>[]): Promise<number> {
    if (covered.some(({ metadata }) => controllerOf(metadata.ownerReferences) === undefined)) {
      const found = `Pods selected by this PodDisruptionBudget (selector: ${goSelectorText(budget.spec?.selector)}) were found to be unmanaged.`
      const effect = 'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior.'
      const advice = 'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
      this.#events.warning(budget, 'UnmanagedPods', `${found} ${effect} ${advice}`)
    }
    return expectedScale(covered, this.#context)
  }

  /**
   * Returns the pods that a budget may cover: found by the label index if its selector has `matchLabels`, otherwise all pods
   * of the namespace.
   */
  #candidates({ spec }: DeepReadonly<Budget>, namespace: string): readonly DeepReadonly<Pod>[] {
    const matchLabels = spec?.selector?.matchLabels ?? {}
    if (Object.keys(matchLabels).length === 0) return this.#pods?.list({ namespace }) ?? []
    return this.#podsByLabel?.select(namespace, matchLabels) ?? []
  }

  /**
   * Writes the status with the resourceVersion of the budget that was counted, so that a concurrent eviction is a conflict.
   */
  async #write(budget: DeepReadonly<Budget>, status: BudgetStatus): Promise<void> {
    if (sameJson(budget.status ?? {}, status)) return
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(structuredClone(budget) as Budget), status }
    // A conflicting change causes another event, after which the pods are counted again.
    await ignoreReasons(client.update(budgets, changed, { subresource: 'status', fieldManager, signal }), [
      'NotFound',
      'Conflict',
    ])
  }
}

/** Whether a budget covers a pod. A missing selector covers no pods; an empty selector covers all pods of the namespace. */
function covers(budget: DeepReadonly<Budget>, pod: DeepReadonly<Pod>): boolean {
  const selector = budget.spec?.selector
  return selector != null && labelSelectorFromObject(selector).matches(pod.metadata.labels ?? {})
}
