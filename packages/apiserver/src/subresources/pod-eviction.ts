import { ApiError, type ApiObject, formatTime, labelSelectorFromObject } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { type DeleteRequestOptions, type FrozenObject, takeNamespace, type WriteContext } from '@krmkit/registry'
import { readObject } from '../encoding/request-body.ts'
import { successResponse } from '../encoding/response-writer.ts'
import { header, type RequestContext } from '../request-context.ts'
import { type RequestScope, requestedOptions } from '../request-scope.ts'
import { writeContext } from '../write-context.ts'

interface Eviction extends ApiObject {
  deleteOptions?: DeleteRequestOptions
}

interface PodLike extends ApiObject {
  status?: { phase?: string; conditions?: PodCondition[] }
}

interface PodCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

interface Budget extends ApiObject {
  spec?: { selector?: object; unhealthyPodEvictionPolicy?: string; minAvailable?: unknown }
  status?: {
    disruptionsAllowed?: number
    currentHealthy?: number
    desiredHealthy?: number
    observedGeneration?: number
    disruptedPods?: Record<string, string>
  }
}

/**
 * POST to `pods/eviction`: deletes a pod if its disruption budget allows it.
 *
 * @throws ApiError 429 when the budget does not allow it; 400, 404, 409 of the deletion.
 */
export async function evictPod(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, store, codec, registry, responses } = scope
  const { namespace, name, subresource } = context.info
  const query = requestedOptions(scope, context, 'CreateOptions')
  const type = () => responses.types.struct('policy/v1.Eviction')
  const kind = { group: 'policy', version: 'v1', kind: 'Eviction' }
  // Clients still send the beta version of evictions, which budgets have left.
  const expected = { gvk: kind, type, fieldValidation: query.fieldValidation, otherVersions: ['v1beta1'], unstored: true }
  const body = (await readObject(scope, context, expected)) as Eviction
  takeNamespace(body, namespace, definition)
  const admission = store.operation(writeContext(context, query), { namespace, name, subresource, kind })
  const eviction = (await admission.admit(body)) as Eviction
  if (eviction.metadata.name !== name) throw ApiError.badRequest('name in URL does not match name in Eviction object')
  const options = eviction.deleteOptions ?? {}
  const dryRun = query.dryRun || (options.dryRun ?? []).length > 0
  const write = writeContext(context, { dryRun, fieldManager: query.fieldManager })
  await admission.validate(eviction)
  const entry = await store.get({ namespace, name }, context)
  const pod = codec.object(entry) as FrozenObject & Readonly<PodLike>
  const { uid } = options.preconditions ?? {}
  if (uid !== undefined && uid !== pod.metadata.uid) {
    throw ApiError.conflict(
      { group: '', resource: 'Pod' },
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`,
    )
  }
  if (!ignoresBudgets(pod)) {
    const budgets = (
      (await registry.reader.list({ group: 'policy', resource: 'poddisruptionbudgets' }, namespace)) as readonly FrozenObject[]
    ).filter((budget) => covers(budget, pod))
    if (budgets.length > 1)
      throw ApiError.internalError(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      )
    const [budget] = budgets
    if (budget !== undefined && !spared(budget as Budget, pod))
      await charge(scope, write, budget.metadata.name ?? '', { namespace, name })
  }
  await store.delete(write, {
    namespace,
    name,
    options: dryRun ? { ...options, dryRun: ['All'] } : await markEvicted(scope, write, { namespace, name }, options),
    skipAdmission: true,
  })
  return successResponse(responses, header(context.request, 'accept'), { code: 201 }, 201)
}

interface PodName {
  readonly namespace: string
  readonly name: string
}

/**
 * Sets the `DisruptionTarget` condition, which tells readers of a terminating pod why it ends.
 *
 * @returns the options of the deletion; a resourceVersion precondition becomes that of the pod with its condition.
 * @throws ApiError 404, 409 when the preconditions name another pod.
 */
async function markEvicted(
  { clock, store }: RequestScope,
  write: WriteContext,
  { namespace, name }: PodName,
  options: DeleteRequestOptions,
): Promise<DeleteRequestOptions> {
  const { uid, resourceVersion } = options.preconditions ?? {}
  const meant = (kind: string, wanted: string | undefined, found: string | undefined) => {
    if (wanted === undefined || wanted === found) return
    const problem = `Precondition failed: ${kind} in precondition: ${wanted}, ${kind} in object meta: ${found ?? ''}`
    throw ApiError.conflict({ group: '', resource: 'Pod' }, name, problem)
  }
  const { object } = await store.updateStored(write, {
    namespace,
    name,
    subresource: 'status',
    managesFields: true,
    skipAdmission: true,
    change(current) {
      if (current === undefined) throw ApiError.notFound({ group: '', resource: 'pods' }, name)
      meant('UID', uid, current.metadata.uid)
      meant('ResourceVersion', resourceVersion, current.metadata.resourceVersion)
      return withCondition(current, formatTime(clock.now()))
    },
  })
  if (resourceVersion === undefined) return options
  const version = object.metadata.resourceVersion ?? ''
  return { ...options, preconditions: { ...options.preconditions, resourceVersion: version } }
}

function withCondition(current: FrozenObject, now: string): PodLike {
  const pod = structuredClone(current) as PodLike
  const conditions = pod.status?.conditions ?? []
  const before = conditions.findIndex(({ type }) => type === 'DisruptionTarget')
  const old = conditions[before]
  const lastTransitionTime = old?.status === 'True' && old.lastTransitionTime !== undefined ? old.lastTransitionTime : now
  const reason = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting', lastTransitionTime }
  const condition = { type: 'DisruptionTarget', status: 'True', ...reason }
  if (before < 0) conditions.push(condition)
  else conditions[before] = condition
  pod.status = { ...pod.status, conditions }
  return pod
}

/** Pods that do not run, and terminating ones, do not count against the budget. */
function ignoresBudgets(pod: Readonly<PodLike>): boolean {
  const phase = pod.status?.phase ?? ''
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
}

function covers(budget: FrozenObject, pod: FrozenObject): boolean {
  const { selector } = ((budget as unknown as Budget).spec ?? {}) as { selector?: object }
  return selector !== undefined && labelSelectorFromObject(selector).matches(pod.metadata.labels ?? {})
}

/** An unready pod is evicted without charge when the policy allows it, or when the healthy pods suffice. */
function spared(budget: Budget, pod: Readonly<PodLike>): boolean {
  const ready = (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
  if (ready) return false
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/** Takes one disruption from the budget. @throws ApiError 429 when none is left. */
async function charge({ clock, registry }: RequestScope, write: WriteContext, budgetName: string, pod: PodName): Promise<void> {
  const budgets = registry.storeOf({ group: 'policy', resource: 'poddisruptionbudgets' })
  await budgets?.updateStored(write, {
    namespace: pod.namespace,
    name: budgetName,
    subresource: 'status',
    change(current) {
      const budget = structuredClone(current) as Budget
      const { status = {} } = budget
      if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
        throw refused(`The disruption budget ${budgetName} is still being processed by the server.`, 10)
      }
      const allowed = status.disruptionsAllowed ?? 0
      if (allowed <= 0) {
        throw refused(
          `The disruption budget ${budgetName} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`,
          0,
        )
      }
      budget.status = {
        ...status,
        disruptionsAllowed: allowed - 1,
        disruptedPods: { ...status.disruptedPods, [pod.name]: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z') },
      }
      return budget
    },
  })
}

function refused(cause: string, retryAfterSeconds: number): ApiError {
  const error = ApiError.tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds)
  return new ApiError({
    ...error.status,
    details: { ...error.status.details, causes: [{ reason: 'DisruptionBudget', message: cause }] },
  })
}
