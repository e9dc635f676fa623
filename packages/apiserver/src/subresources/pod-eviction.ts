import type { Pod } from '@krmkit/kinds/core/v1'
import type { Eviction, PodDisruptionBudget } from '@krmkit/kinds/policy/v1'
import { ignoresBudgets, protectingBudget, takeDisruption, unsettledBudget, withDisruptionTarget } from '@krmkit/kinds/strategies'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { checkPreconditions, type DeleteRequestOptions, type WriteContext } from '@krmkit/registry'
import { successResponse } from '../encoding/status-response.ts'
import { writeContext } from '../handlers/write-context.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope } from '../request/scope.ts'
import { admitOperation } from './operation.ts'

const budgetResource = { group: 'policy', resource: 'poddisruptionbudgets' }

/**
 * POST to `pods/eviction`: deletes a pod if its disruption budget allows it.
 *
 * @throws ApiError 429 when the budget does not allow it; 400, 404, 409 of the deletion.
 */
export async function createEviction(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { codec, responses, store } = scope
  const { namespace, name } = context.info
  const representation = negotiatedObjects(scope, context)
  // Clients still send evictions as policy/v1beta1, although this version no longer has budgets.
  const { body: eviction, options: query, admission } = await admitOperation<Eviction>(scope, context, ['v1beta1'])
  if (eviction.metadata.name !== name) throw ApiError.badRequest('name in URL does not match name in Eviction object')
  const options: DeleteRequestOptions = eviction.deleteOptions ?? {}
  if (query.dryRun && (options.dryRun ?? []).length > 0 && options.dryRun?.join() !== 'All')
    throw ApiError.badRequest(`Non-matching dry-run options in request and content: [All] and [${options.dryRun?.join(' ')}]`)
  const dryRun = query.dryRun || (options.dryRun ?? []).length > 0
  const write = writeContext(context, { dryRun, fieldManager: query.fieldManager })
  await admission.validate(eviction)
  const pod = codec.object(await store.get({ namespace, name }, context)) as DeepReadonly<Pod>
  const sparing = ignoresBudgets(pod) ? undefined : await chargeBudget(scope, write, pod)
  await deletePod(scope, write, { pod, options, sparing })
  return successResponse(responses, context, { code: 201 }, { code: 201, representation })
}

interface PodDeletion {
  readonly pod: DeepReadonly<Pod>
  readonly options: DeleteRequestOptions
  /** The budget that allows the eviction without a disruption because the pod is not ready. */
  readonly sparing: DeepReadonly<PodDisruptionBudget> | undefined
}

/** @throws ApiError 404, 409; 429 instead of 409 when a pod that was not ready may have become ready. */
async function deletePod(scope: RequestScope, write: WriteContext, { pod, options, sparing }: PodDeletion): Promise<void> {
  const { name = '', namespace = '', resourceVersion = '' } = pod.metadata
  const { preconditions, dryRun: asked = [] } = options
  const isUnversioned = (preconditions?.resourceVersion ?? '') === ''
  const guarded =
    sparing === undefined || !isUnversioned ? options : { ...options, preconditions: { ...preconditions, resourceVersion } }
  try {
    const deletion = write.dryRun
      ? { ...guarded, dryRun: asked.length > 0 ? asked : ['All'] }
      : await markEvicted(scope, write, { namespace, name }, guarded)
    await scope.store.delete(write, { namespace, name, options: deletion, skipAdmission: true })
  } catch (error) {
    if (sparing !== undefined && isUnversioned && ApiError.is(error) && error.reason === 'Conflict')
      throw unsettledBudget(sparing.metadata.name)
    throw error
  }
}

/**
 * Takes one disruption from the budget that protects the pod.
 *
 * @returns the budget, if it allows the eviction without counting a disruption.
 * @throws ApiError 429 when no disruption is left.
 */
async function chargeBudget(
  { clock, registry }: RequestScope,
  write: WriteContext,
  pod: DeepReadonly<Pod>,
): Promise<DeepReadonly<PodDisruptionBudget> | undefined> {
  const { name = '', namespace = '' } = pod.metadata
  const budgets = await registry.reader.list(budgetResource, namespace)
  const protection = protectingBudget(budgets as readonly DeepReadonly<PodDisruptionBudget>[], pod)
  if (protection === undefined) return undefined
  const { budget, isCharged } = protection
  if (!isCharged) return budget
  await registry.storeOf(budgetResource)?.updateStored(write, {
    namespace,
    name: budget.metadata.name ?? '',
    subresource: 'status',
    change: (current) => takeDisruption(current as DeepReadonly<PodDisruptionBudget>, name, clock.now()),
  })
  return undefined
}

/**
 * Sets the `DisruptionTarget` condition, which explains to readers of a terminating pod why it is deleted.
 *
 * @returns the options of the deletion; a resourceVersion precondition is replaced by the version of the pod with the condition.
 * @throws ApiError 404, 409 when the preconditions name another pod.
 */
async function markEvicted(
  { clock, definition, store }: RequestScope,
  write: WriteContext,
  pod: { readonly namespace: string; readonly name: string },
  options: DeleteRequestOptions,
): Promise<DeleteRequestOptions> {
  const { preconditions } = options
  const { object } = await store.updateStored(write, {
    ...pod,
    subresource: 'status',
    managesFields: true,
    skipAdmission: true,
    change(current) {
      const live = current as DeepReadonly<Pod>
      // The deletion checks the preconditions that are empty here.
      const { uid = '', resourceVersion = '' } = preconditions ?? {}
      checkPreconditions(definition, live, {
        uid: uid === '' ? undefined : uid,
        resourceVersion: resourceVersion === '' ? undefined : resourceVersion,
      })
      return withDisruptionTarget(live, clock.now())
    },
  })
  if ((preconditions?.resourceVersion ?? '') === '') return options
  const { resourceVersion = '' } = object.metadata
  return { ...options, preconditions: { ...preconditions, resourceVersion } }
}
