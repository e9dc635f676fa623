import type { Informer } from '@krmkit/client'
import { ApiError, type DeepReadonly, labelSelectorFromObject } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/outcomes.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import {
  type Budget,
  type BudgetStatus,
  budgetStatus,
  budgets,
  countHealthy,
  disruptedPods,
  failedStatus,
  type Pod,
  pods,
  wantedPods,
} from './budget.ts'
import { expectedScale } from './scale.ts'

/**
 * Keeps the status of disruption budgets: how many pods they cover, and how many of them may go now. Looks at pods only
 * while there is a budget.
 */
export const disruptionController: Controller = {
  name: 'disruption-controller',
  start: (context) => new Disruption(context),
}

class Disruption implements AsyncDisposable {
  readonly #context: ControllerContext
  readonly #budgets: Informer<Budget>
  readonly #leaves: (() => void)[] = []
  readonly #add: (budget: DeepReadonly<Budget>) => void
  #pods: Informer<Pod> | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#budgets = context.informers.of(budgets)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key) })
    this.#add = ({ metadata: { namespace, name } }) => queue.add(`${namespace}/${name}`)
    const look = (budget: DeepReadonly<Budget>) => {
      this.#followPods()
      this.#add(budget)
    }
    this.#leaves.push(this.#budgets.on({ added: look, updated: look }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const leave of this.#leaves) leave()
  }

  #followPods(): void {
    if (this.#pods !== undefined) return
    this.#pods = this.#context.informers.of(pods)
    const touch = (pod: DeepReadonly<Pod>) => {
      for (const budget of this.#budgets.list({ namespace: pod.metadata.namespace ?? '' }))
        if (covers(budget, pod)) this.#add(budget)
    }
    const leave = this.#pods.on({
      added: touch,
      updated(pod, before) {
        touch(before)
        touch(pod)
      },
      deleted: touch,
    })
    this.#leaves.push(leave)
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
    const covered = this.#pods.list({ namespace }).filter((pod) => covers(budget, pod))
    const now = clock.now()
    const disrupted = disruptedPods(budget, covered, now)
    let status: BudgetStatus
    let failure: unknown
    try {
      const wanted = await wantedPods(budget.spec ?? {}, covered.length, () => expectedScale(covered, this.#context))
      const currentHealthy = countHealthy(covered, disrupted.pods)
      status = budgetStatus(budget, { ...wanted, currentHealthy, disruptedPods: disrupted.pods }, now)
    } catch (error) {
      failure = error
      status = failedStatus(budget, error instanceof Error ? error.message : String(error), now)
    }
    await this.#write(budget, status)
    if (failure !== undefined) throw failure
    return disrupted.recheckAtMs === undefined ? undefined : { againAfterMs: Math.max(1, disrupted.recheckAtMs - now + 1) }
  }

  /** Against the version that was counted for: an eviction that came between is counted again. */
  async #write(budget: DeepReadonly<Budget>, status: BudgetStatus): Promise<void> {
    if (sameJson(budget.status ?? {}, status)) return
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(structuredClone(budget) as Budget), status }
    try {
      await ignoreNotFound(client.update(budgets, changed, { subresource: 'status', fieldManager, signal }))
    } catch (error) {
      // Whoever was first made a change that is told soon, and then all is counted again.
      if (!(ApiError.is(error) && error.reason === 'Conflict')) throw error
    }
  }
}

/** A budget without a selector covers nothing, one with an empty selector every pod of its namespace. */
function covers(budget: DeepReadonly<Budget>, pod: DeepReadonly<Pod>): boolean {
  const selector = budget.spec?.selector
  return selector != null && labelSelectorFromObject(selector).matches(pod.metadata.labels ?? {})
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) => Object.hasOwn(b, key) && sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}
