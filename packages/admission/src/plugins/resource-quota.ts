import { ApiError, type Clock, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { type AdmissionAttributes, type AdmissionPlugin, type AdmissionTarget, pluginUser } from '../interfaces.ts'
import { chargesOf } from '../quota/check.ts'
import { usageEvaluators } from '../quota/evaluators.ts'
import type { ResourceQuota } from '../quota/interfaces.ts'
import { QuotaLedger, quotasOf, type Weigh } from '../quota/ledger.ts'
import type { LimitedResource } from '../quota/limited.ts'
import { parseUsage } from '../quota/usage.ts'
import { isNamespaceKind } from '../targets.ts'

export interface ResourceQuotaOptions {
  readonly profile: NamingProfile
  readonly clock: Clock
  /** Resources that nobody consumes unless some quota covers them. Default: none. */
  readonly limited?: readonly LimitedResource[]
}

/** Users that count what is used and write it down. */
const counters = new Set(['system:kube-controller-manager', 'system:serviceaccount:kube-system:resourcequota-controller'])

/**
 * Holds namespaces to their quotas. A request is charged when nothing but storage can refuse it any more, given back when it was not
 * stored, and charged to all of its quotas or none.
 *
 * @see API protocol specification, 5.10
 */
export function resourceQuota({ profile, clock, limited = [] }: ResourceQuotaOptions): AdmissionPlugin {
  const evaluatorOf = usageEvaluators({ profile, clock })
  const ledger = new QuotaLedger()
  return {
    name: 'ResourceQuota',
    handles: (target) => isCharged(target, evaluatorOf(target.resource).countsUpdates) || isQuotaStatus(target),
    check(attributes, _context, object) {
      if (isQuotaStatus(attributes)) checkCount(ledger, attributes, object as DeepReadonly<ResourceQuota> | undefined)
    },
    async validate(object, attributes, context) {
      const { namespace, dryRun, resource } = attributes
      if (object === undefined || namespace === '' || isQuotaStatus(attributes)) return undefined
      const known = await quotasOf(context.reader, namespace)
      if (known.length === 0 && limited.length === 0) return undefined
      const evaluator = evaluatorOf(resource)
      const weigh: Weigh = (quotas) => chargesOf(quotas, { attributes, object, evaluator, limited })
      // What is refused, or costs nothing, needs no turn.
      if (weigh(known).length === 0 || dryRun) return undefined
      return ledger.charge(namespace, weigh, context)
    },
  }
}

const uncounted = new Set(['/events', 'events./events'])

function isCharged(target: AdmissionTarget, countsUpdates: boolean): boolean {
  const { operation, resource, subresource } = target
  if (isNamespaceKind(target) || uncounted.has(`${resource.group}/${resource.resource}`)) return false
  const isResize = resource.group === '' && resource.resource === 'pods' && subresource === 'resize'
  if (subresource !== '' && !isResize) return false
  return operation === 'CREATE' || (operation === 'UPDATE' && countsUpdates)
}

function isQuotaStatus({ operation, resource, subresource }: AdmissionTarget): boolean {
  return operation === 'UPDATE' && subresource === 'status' && resource.group === '' && resource.resource === 'resourcequotas'
}

/** Who counts while objects are being stored can miss some: they are asked to count again. */
function checkCount(
  ledger: QuotaLedger,
  { user, oldObject, resource, name }: AdmissionAttributes,
  object: DeepReadonly<ResourceQuota> | undefined,
): void {
  if (user.username === pluginUser || !counters.has(user.username) || object === undefined || oldObject === undefined) return
  const [before, after] = [oldObject as DeepReadonly<ResourceQuota>, object].map(({ status }) => parseUsage(status?.used))
  const lowers = [...(before ?? [])].some(([counted, amount]) => (after?.get(counted)?.compare(amount) ?? -1) < 0)
  if (lowers && ledger.isUnsettled(oldObject)) {
    throw ApiError.conflict(resource, name, 'objects are being charged to the quota; please count again')
  }
}
