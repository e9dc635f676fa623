import { ApiError, type ApiObject, formatTime, labelSelectorFromObject } from '@krmkit/meta'
import {
  type DeleteOptions,
  deleteObject,
  type FrozenObject,
  isStorableName,
  objectKey,
  takeNamespace,
  updateObject,
} from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject } from '../request-body.ts'
import { header } from '../request-context.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { statusResponse } from '../responses.ts'
import { operationAdmission } from './operation.ts'

interface Eviction extends ApiObject {
  deleteOptions?: DeleteOptions
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
 * POST to `pods/eviction`: a deletion that asks the disruption budgets of the pod first.
 *
 * @throws ApiError 429 when a budget holds it back; 400, 404, 409 as a deletion.
 */
export async function evictPod(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { namespace, name } = state.info
  const { environment, reader } = machinery.writer
  const query = requestedOptions(request, 'CreateOptions')
  const type = () => machinery.responder.types.struct('policy/v1.Eviction')
  const kind = { group: 'policy', version: 'v1', kind: 'Eviction' }
  // Evictions are asked for in the version before, too, long after budgets left it.
  const expected = { gvk: kind, type, fieldValidation: query.fieldValidation, otherVersions: ['v1beta1'], unstored: true }
  const body = (await readObject(machinery, state, expected)) as Eviction
  takeNamespace(body, namespace, definition)
  const admission = operationAdmission(request, definition, writeContext(request, query), { name, kind })
  const eviction = (await admission.admit(body)) as Eviction
  if (eviction.metadata.name !== name) throw ApiError.badRequest('name in URL does not match name in Eviction object')
  const options = eviction.deleteOptions ?? {}
  const dryRun = query.dryRun || (options.dryRun ?? []).length > 0
  const context = writeContext(request, { dryRun, fieldManager: query.fieldManager })
  await admission.judge(eviction)
  const entry = isStorableName(name) ? environment.storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) throw ApiError.notFound({ group: '', resource: 'pods' }, name)
  const pod = machinery.parsed.objectOf(entry) as FrozenObject & Readonly<PodLike>
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
      (await reader.list({ group: 'policy', resource: 'poddisruptionbudgets' }, namespace)) as readonly FrozenObject[]
    ).filter((budget) => covers(budget, pod))
    if (budgets.length > 1)
      throw ApiError.internalError(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      )
    const [budget] = budgets
    if (budget !== undefined && !spared(budget as Budget, pod)) await charge(request, context, budget.metadata.name ?? '', name)
  }
  await deleteObject(machinery.writer, definition, context, {
    namespace,
    name,
    options: dryRun ? { ...options, dryRun: ['All'] } : await markEvicted(request, context, options),
    admitted: true,
  })
  return statusResponse(
    machinery.responder,
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
    header(state.request, 'accept'),
    201,
  )
}

/**
 * Notes in the status of the pod why it goes, for those who look at it before it is gone.
 *
 * @returns the options for its deletion, whose version is that of the pod with its note.
 * @throws ApiError 404, and 409 for a pod that is not the one that was meant.
 */
async function markEvicted(
  { machinery, state, definition }: ResourceRequest,
  context: ReturnType<typeof writeContext>,
  options: DeleteOptions,
): Promise<DeleteOptions> {
  const { namespace, name } = state.info
  const { uid, resourceVersion } = options.preconditions ?? {}
  const meant = (kind: string, wanted: string | undefined, found: string | undefined) => {
    if (wanted === undefined || wanted === found) return
    const problem = `Precondition failed: ${kind} in precondition: ${wanted}, ${kind} in object meta: ${found ?? ''}`
    throw ApiError.conflict({ group: '', resource: 'Pod' }, name, problem)
  }
  const { object } = await updateObject(machinery.writer, definition, context, {
    namespace,
    name,
    subresource: 'status',
    owned: true,
    admitted: true,
    change(current) {
      if (current === undefined) throw ApiError.notFound({ group: '', resource: 'pods' }, name)
      meant('UID', uid, current.metadata.uid)
      meant('ResourceVersion', resourceVersion, current.metadata.resourceVersion)
      return withNote(current, formatTime(machinery.writer.environment.clock.now()))
    },
  })
  if (resourceVersion === undefined) return options
  const version = object.metadata.resourceVersion ?? ''
  return { ...options, preconditions: { ...options.preconditions, resourceVersion: version } }
}

function withNote(current: FrozenObject, now: string): PodLike {
  const pod = structuredClone(current) as PodLike
  const conditions = pod.status?.conditions ?? []
  const before = conditions.findIndex(({ type }) => type === 'DisruptionTarget')
  const old = conditions[before]
  const lastTransitionTime = old?.status === 'True' && old.lastTransitionTime !== undefined ? old.lastTransitionTime : now
  const note = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting', lastTransitionTime }
  const condition = { type: 'DisruptionTarget', status: 'True', ...note }
  if (before < 0) conditions.push(condition)
  else conditions[before] = condition
  pod.status = { ...pod.status, conditions }
  return pod
}

/** Pods that do not run, or go already, cost no availability. */
function ignoresBudgets(pod: Readonly<PodLike>): boolean {
  const phase = pod.status?.phase ?? ''
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
}

function covers(budget: FrozenObject, pod: FrozenObject): boolean {
  const { selector } = ((budget as unknown as Budget).spec ?? {}) as { selector?: object }
  return selector !== undefined && labelSelectorFromObject(selector).matches(pod.metadata.labels ?? {})
}

/** An unready pod may always go when the budget says so, or when the healthy ones suffice without it. */
function spared(budget: Budget, pod: Readonly<PodLike>): boolean {
  const ready = (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
  if (ready) return false
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/** Takes one disruption from the budget. @throws ApiError 429 when none is left. */
async function charge(
  request: ResourceRequest,
  context: ReturnType<typeof writeContext>,
  budgetName: string,
  podName: string,
): Promise<void> {
  const { machinery, state } = request
  const budgets = machinery.stored('policy', 'poddisruptionbudgets')
  if (budgets === undefined) return
  const { clock } = machinery.writer.environment
  await updateObject(machinery.writer, budgets, context, {
    namespace: state.info.namespace,
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
        disruptedPods: { ...status.disruptedPods, [podName]: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z') },
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
