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
import { ApiError, type ApiObject, type DeepReadonly, type GroupResource } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/outcomes.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { countedStatus, sameResource } from './count.ts'
import { quotas, weighed } from './objects.ts'

type Quota = DeepReadonly<ResourceQuota>

/** Everything is counted again so often, whatever was noticed. */
const resyncMs = 300_000
/** Counts are made again when objects came meanwhile. */
const tries = 8

/**
 * Keeps the status of quotas: what they limit, and how much of it is used. Admission adds what is created; what goes away, or costs
 * less than before, is noticed here. Looks at objects only while there is a quota that counts them.
 */
export const quotaController: Controller = {
  name: 'resourcequota-controller',
  start: (context) => new Quotas(context),
}

class Quotas implements AsyncDisposable {
  readonly #context: ControllerContext
  readonly #evaluatorOf: UsageEvaluators
  readonly #quotas: Informer<ResourceQuota>
  readonly #add: (quota: Quota) => void
  readonly #leaves: (() => void)[] = []
  readonly #followed = new Set<string>()
  #followsDeletions = false

  constructor(context: ControllerContext) {
    this.#context = context
    this.#evaluatorOf = createUsageEvaluators(context)
    this.#quotas = context.informers.of(quotas)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key) })
    this.#add = ({ metadata: { namespace, name } }) => queue.add(`${namespace}/${name}`)
    const look = (quota: Quota) => {
      this.#follow(quota)
      this.#add(quota)
    }
    const updated = (quota: Quota, before: Quota) => {
      // Admission and this controller write the status alone.
      if (quota.metadata.resourceVersion !== before.metadata.resourceVersion && sameHard(quota, before) && isReady(quota)) return
      look(quota)
    }
    this.#leaves.push(this.#quotas.on({ added: look, updated }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const leave of this.#leaves) leave()
  }

  #follow(quota: Quota): void {
    const names = Object.keys(quota.spec?.hard ?? {})
    for (const resource of weighed) {
      if (this.#evaluatorOf(resource).matchingResources(names).length > 0) this.#followChanges(resource)
    }
    if (this.#followsDeletions) return
    this.#followsDeletions = true
    const leave = this.#context.monitors.on({
      deleted: (resource, object) => {
        if (!weighed.some((each) => sameResource(each, resource))) this.#touch(resource, object)
      },
    })
    this.#leaves.push(leave)
  }

  #followChanges(resource: (typeof weighed)[number]): void {
    if (this.#followed.has(resource.resource)) return
    this.#followed.add(resource.resource)
    const evaluator = this.#evaluatorOf(resource)
    const leave = this.#context.informers.of(resource).on({
      updated: (object, before) => {
        // What costs more was charged by admission.
        const change = subtractUsage(evaluator.usage(object), evaluator.usage(before))
        if ([...change.values()].some((amount) => amount.sign() < 0) || this.#changesScope(resource, object, before)) {
          this.#touch(resource, object)
        }
      },
      deleted: (object) => this.#touch(resource, object),
    })
    this.#leaves.push(leave)
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

  #touch(resource: GroupResource, object: DeepReadonly<ApiObject>): void {
    for (const quota of this.#quotasIn(object)) {
      if (this.#evaluatorOf(resource).matchingResources(Object.keys(quota.spec?.hard ?? {})).length > 0) this.#add(quota)
    }
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    const [namespace = '', name = ''] = key.split('/')
    if (this.#quotas.get(name, namespace) === undefined) return undefined
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#count(namespace, name)
        return { againAfterMs: resyncMs }
      } catch (error) {
        if (!(ApiError.is(error) && error.reason === 'Conflict') || attempt === tries) throw error
      }
    }
  }

  /**
   * Counts what the server has now, against the version that was read before: what is charged meanwhile makes the write a conflict.
   */
  async #count(namespace: string, name: string): Promise<void> {
    const { client, monitors, fieldManager, signal } = this.#context
    const { preferred } = await monitors.discovered()
    const quota = await ignoreNotFound(client.get(quotas, name, { namespace, signal }))
    if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return
    const status = await countedStatus(quota, preferred, { context: this.#context, evaluatorOf: this.#evaluatorOf })
    if (isSame(quota.status?.hard, status.hard) && isSame(quota.status?.used, status.used)) return
    await ignoreNotFound(client.update(quotas, { ...quota, status }, { subresource: 'status', fieldManager, signal }))
  }
}

type Amounts = DeepReadonly<Record<string, string>> | undefined

function isSame(a: Amounts, b: Amounts): boolean {
  return equalUsage(parseUsage(a), parseUsage(b)) && a !== undefined
}

function sameHard(a: Quota, b: Quota): boolean {
  return equalUsage(parseUsage(a.spec?.hard), parseUsage(b.spec?.hard))
}

/** Whether the status says what the quota limits now. */
function isReady({ spec, status }: Quota): boolean {
  return isSame(status?.hard, spec?.hard)
}
