import {
  createUsageEvaluators,
  equalUsage,
  matchesQuota,
  parseUsage,
  type ResourceQuota,
  subtractUsage,
  type UsageEvaluators,
} from '@krmkit/admission/quota'
import type { Informer } from '@krmkit/client'
import { ApiError, type ApiObject, type DeepReadonly, type GroupResource, type Quantity } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { meteredResources, quotas } from './resources.ts'
import { computeStatus, sameResource } from './usage-count.ts'

type Quota = DeepReadonly<ResourceQuota>

/** Interval of full recounts. */
const resyncMs = 300_000
/** Maximum number of recounts after conflicts. */
const maxAttempts = 8

/**
 * Maintains the status of quotas: limits and usage. Admission charges new and increased usage; this controller recounts
 * after deletions, decreased usage, and increases that a status reports. Watches a resource only once a quota counts it.
 */
export const quotaController: Controller = {
  name: 'resourcequota-controller',
  start: (context) => disposeSubscriptions(new QuotaController(context).subscriptions),
}

class QuotaController {
  readonly #context: ControllerContext
  readonly #evaluatorOf: UsageEvaluators
  readonly #quotas: Informer<ResourceQuota>
  readonly #add: (quota: Quota) => void
  readonly subscriptions: (() => void)[] = []
  readonly #watched = new Set<string>()
  #watchesDeletions = false

  constructor(context: ControllerContext) {
    this.#context = context
    this.#evaluatorOf = createUsageEvaluators(context)
    this.#quotas = context.informers.of(quotas)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key) })
    this.#add = ({ metadata: { namespace, name } }) => queue.add(`${namespace}/${name}`)
    const enqueue = (quota: Quota) => {
      this.#watch(quota)
      this.#add(quota)
    }
    const updated = (quota: Quota, before: Quota) => {
      // A change that keeps `spec.hard`, such as a status write of admission or this controller, does not cause a recount.
      if (quota.metadata.resourceVersion !== before.metadata.resourceVersion && sameHard(quota, before)) this.#watch(quota)
      else enqueue(quota)
    }
    this.subscriptions.push(this.#quotas.on({ added: enqueue, updated }))
  }

  #watch(quota: Quota): void {
    const names = Object.keys({ ...quota.spec?.hard, ...quota.status?.hard })
    for (const resource of meteredResources) {
      if (this.#evaluatorOf(resource).matchingResources(names).length > 0) this.#watchUsage(resource)
    }
    if (this.#watchesDeletions) return
    this.#watchesDeletions = true
    const unsubscribe = this.#context.monitors.on({
      deleted: (resource, object) => {
        if (!meteredResources.some((each) => sameResource(each, resource))) this.#enqueueQuotasOf(resource, object)
      },
    })
    this.subscriptions.push(unsubscribe)
  }

  #watchUsage(resource: (typeof meteredResources)[number]): void {
    if (this.#watched.has(resource.resource)) return
    this.#watched.add(resource.resource)
    const evaluator = this.#evaluatorOf(resource)
    const unsubscribe = this.#context.informers.of(resource).on({
      updated: (object, before) => {
        const change = [...subtractUsage(evaluator.usage(object), evaluator.usage(before)).values()]
        const isCharged = change.every((amount) => amount.sign() === 0) || (isIncrease(change) && !sameSpec(object, before))
        if (!isCharged || this.#changesScope(resource, object, before)) this.#enqueueQuotasOf(resource, object)
      },
      deleted: (object) => this.#enqueueQuotasOf(resource, object),
    })
    this.subscriptions.push(unsubscribe)
  }

  #quotasIn({ metadata }: DeepReadonly<ApiObject>): readonly Quota[] {
    return this.#quotas.list({ namespace: metadata.namespace ?? '' })
  }

  #changesScope(resource: GroupResource, object: DeepReadonly<ApiObject>, before: DeepReadonly<ApiObject>): boolean {
    const evaluator = this.#evaluatorOf(resource)
    return this.#quotasIn(object).some((quota) => {
      const limited = { quota, hard: parseUsage(quota.spec?.hard) }
      return matchesQuota(evaluator, limited, object) !== matchesQuota(evaluator, limited, before)
    })
  }

  #enqueueQuotasOf(resource: GroupResource, object: DeepReadonly<ApiObject>): void {
    for (const quota of this.#quotasIn(object)) {
      if (this.#evaluatorOf(resource).matchingResources(Object.keys(quota.status?.hard ?? {})).length > 0) this.#add(quota)
    }
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    const [namespace = '', name = ''] = key.split('/')
    if (this.#quotas.get(name, namespace) === undefined) return undefined
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#count(namespace, name)
        return { requeueAfterMs: resyncMs }
      } catch (error) {
        if (!(ApiError.is(error) && error.reason === 'Conflict') || attempt === maxAttempts) throw error
      }
    }
  }

  /**
   * Recounts and writes the status with the resourceVersion read before counting, so that a concurrent charge is a conflict.
   */
  async #count(namespace: string, name: string): Promise<void> {
    const { client, monitors, fieldManager, signal } = this.#context
    const { preferred } = await monitors.discovered()
    const quota = await ignoreNotFound(client.get(quotas, name, { namespace, signal }))
    if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return
    const status = await computeStatus(quota, preferred, { context: this.#context, evaluatorOf: this.#evaluatorOf })
    if (isSame(quota.status?.hard, status.hard) && isSame(quota.status?.used, status.used)) return
    await ignoreNotFound(client.update(quotas, { ...quota, status }, { subresource: 'status', fieldManager, signal }))
  }
}

/**
 * Whether a change only increases usage. Admission charges increases in the spec, but not increases in the status, such as
 * the capacity of claims.
 */
function isIncrease(change: readonly Quantity[]): boolean {
  return change.every((amount) => amount.sign() >= 0)
}

function sameSpec(a: DeepReadonly<ApiObject>, b: DeepReadonly<ApiObject>): boolean {
  const [now, before] = [a, b].map((object) => JSON.stringify((object as { readonly spec?: object }).spec))
  return now === before
}

type Amounts = DeepReadonly<Record<string, string>> | undefined

function isSame(a: Amounts, b: Amounts): boolean {
  return equalUsage(parseUsage(a), parseUsage(b)) && a !== undefined
}

function sameHard(a: Quota, b: Quota): boolean {
  return equalUsage(parseUsage(a.spec?.hard), parseUsage(b.spec?.hard))
}
