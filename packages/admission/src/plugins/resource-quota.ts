import { whenDone } from '@krmkit/base/work'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import {
  type AdmissionAttributes,
  type AdmissionContext,
  type AdmissionPlugin,
  type AdmissionTarget,
  pluginUser,
} from '../interfaces.ts'
import { computeCharges, type QuotaState } from '../quota/check.ts'
import { createUsageEvaluators } from '../quota/evaluators.ts'
import type { ResourceQuota } from '../quota/interfaces.ts'
import { type ComputeCharges, QuotaLedger, readQuotas } from '../quota/ledger.ts'
import type { LimitedResource } from '../quota/limited.ts'
import { parseUsage } from '../quota/usage.ts'
import { isNamespaceKind } from '../targets.ts'

export interface ResourceQuotaOptions {
  readonly profile: NamingProfile
  readonly clock: Clock
  /** Resources that may only be consumed under a covering quota. Default: none. */
  readonly limited?: readonly LimitedResource[]
  /** Charges the allocated storage of a claim while it exceeds the request (gate `RecoverVolumeExpansionFailure`). Default true. */
  readonly chargeAllocatedStorage?: boolean
}

interface ChargedRequest {
  readonly object: DeepReadonly<ApiObject>
  readonly attributes: AdmissionAttributes
  readonly context: AdmissionContext
}

/** Users of the quota controller, which recounts usage. */
const quotaControllers = new Set(['system:kube-controller-manager', 'system:serviceaccount:kube-system:resourcequota-controller'])

/**
 * Enforces resource quotas. A request is charged after all other plugins, to all of its quotas or none, and refunded when its object
 * is not stored.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { resourceQuota } from '@krmkit/admission/plugins'
 * import { stockProfile, systemClock } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const metadata = { name: 'pods', namespace: 'shop' }
 * const amounts = { spec: { hard: { pods: '1' } }, status: { hard: { pods: '1' }, used: { pods: '1' } } }
 * cluster.put({ group: '', resource: 'resourcequotas' }, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, ...amounts })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { containers: [] } }
 * const plugins = [resourceQuota({ profile: stockProfile, clock: systemClock })]
 * const { status } = await admit({ ...pods, object }, plugins, cluster, { writer: cluster })
 * status?.message // 'pods "web" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=1, limited: pods=1'
 * ```
 */
export function resourceQuota({
  profile,
  clock,
  limited = [],
  chargeAllocatedStorage = true,
}: ResourceQuotaOptions): AdmissionPlugin {
  const evaluatorOf = createUsageEvaluators({ profile, clock, chargeAllocatedStorage })
  const ledger = new QuotaLedger()
  const charge = async (
    quotas: readonly QuotaState[] | Promise<readonly QuotaState[]>,
    { object, attributes, context }: ChargedRequest,
  ) => {
    const current = await quotas
    if (current.length === 0 && limited.length === 0) return undefined
    const { namespace, dryRun, resource } = attributes
    const evaluator = evaluatorOf(resource)
    const compute: ComputeCharges = (states) => computeCharges(states, { attributes, object, evaluator, limited })
    // Refusals and free requests do not wait for the ledger.
    if (compute(current).length === 0 || dryRun) return undefined
    return ledger.charge(namespace, compute, context)
  }
  return {
    name: 'ResourceQuota',
    handles: (target) => isCharged(target, evaluatorOf(target.resource).countsUpdates) || isQuotaStatus(target),
    check(attributes, _context, object) {
      if (isQuotaStatus(attributes)) checkRecount(ledger, attributes, object as DeepReadonly<ResourceQuota> | undefined)
    },
    validate(object, attributes, context) {
      const { namespace } = attributes
      if (object === undefined || namespace === '' || isQuotaStatus(attributes)) return undefined
      return whenDone(readQuotas(context.reader, namespace), (quotas) =>
        quotas.length === 0 && limited.length === 0 ? undefined : charge(quotas, { object, attributes, context }),
      )
    },
  }
}

const exemptResources = new Set(['/events', 'events./events'])

function isCharged(target: AdmissionTarget, countsUpdates: boolean): boolean {
  const { operation, resource, subresource } = target
  if (isNamespaceKind(target) || exemptResources.has(`${resource.group}/${resource.resource}`)) return false
  const isResize = resource.group === '' && resource.resource === 'pods' && subresource === 'resize'
  if (subresource !== '' && !isResize) return false
  return operation === 'CREATE' || (operation === 'UPDATE' && countsUpdates)
}

function isQuotaStatus({ operation, resource, subresource }: AdmissionTarget): boolean {
  return operation === 'UPDATE' && subresource === 'status' && resource.group === '' && resource.resource === 'resourcequotas'
}

/** Refuses a recount that lowers the usage while charged objects are being stored, which the count may have missed. */
function checkRecount(
  ledger: QuotaLedger,
  { user, oldObject, resource, name }: AdmissionAttributes,
  object: DeepReadonly<ResourceQuota> | undefined,
): void {
  if (user.username === pluginUser || !quotaControllers.has(user.username) || object === undefined || oldObject === undefined)
    return
  const [before, after] = [oldObject as DeepReadonly<ResourceQuota>, object].map(({ status }) => parseUsage(status?.used))
  const isLower = [...(before ?? [])].some(([counted, amount]) => (after?.get(counted)?.compare(amount) ?? -1) < 0)
  if (isLower && ledger.mayUndercount(oldObject)) {
    throw ApiError.conflict(resource, name, 'objects are being charged to the quota; please count again')
  }
}
