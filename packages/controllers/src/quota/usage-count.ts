import {
  addUsage,
  formatUsage,
  maskUsage,
  matchesQuota,
  parseUsage,
  type ResourceQuota,
  type UsageEvaluators,
} from '@krmkit/admission/quota'
import { type ApiObject, type DeepReadonly, type GroupResource, Quantity } from '@krmkit/meta'
import type { DiscoveredResource } from '../framework/discovery.ts'
import type { ControllerContext } from '../interfaces.ts'
import { meteredResources } from './resources.ts'

/** Counts the quota usage of the live objects of a namespace. */

type Quota = DeepReadonly<ResourceQuota>

const zero = Quantity.of(0)

/** Returns the resources that a quota counts. */
export function resourcesOfQuota(
  { spec }: Quota,
  resources: readonly DiscoveredResource[],
  evaluatorOf: UsageEvaluators,
): DiscoveredResource[] {
  const names = Object.keys(spec?.hard ?? {})
  return resources.filter((resource) => resource.namespaced && evaluatorOf(resource).matchingResources(names).length > 0)
}

/** Computes the status of a quota from live objects. */
export async function computeStatus(
  quota: Quota,
  resources: readonly DiscoveredResource[],
  { context, evaluatorOf }: { readonly context: ControllerContext; readonly evaluatorOf: UsageEvaluators },
): Promise<NonNullable<ResourceQuota['status']>> {
  const hard = parseUsage(quota.spec?.hard)
  const limited = { quota, hard }
  let used = new Map<string, Quantity>()
  const tracked = new Set<string>()
  for (const resource of resourcesOfQuota(quota, resources, evaluatorOf)) {
    const evaluator = evaluatorOf(resource)
    const names = evaluator.matchingResources(hard.keys())
    for (const name of names) tracked.add(name)
    const counted = new Set(names)
    for await (const { items } of pagesOf(resource, quota.metadata.namespace ?? '', context)) {
      for (const object of items) {
        if (matchesQuota(evaluator, limited, object)) used = addUsage(used, maskUsage(evaluator.usage(object), counted))
      }
    }
  }
  const before = parseUsage(quota.status?.used)
  const usage = new Map(
    [...hard.keys()].flatMap((name) => {
      // Usage that cannot be counted keeps its previous value.
      const amount = tracked.has(name) ? (used.get(name) ?? zero) : before.get(name)
      return amount === undefined ? [] : [[name, amount] as const]
    }),
  )
  return { hard: formatUsage(hard), used: formatUsage(usage) }
}

/** Lists in pages, so that large namespaces do not block: complete objects of metered resources, metadata of others. */
function pagesOf(
  resource: DiscoveredResource,
  namespace: string,
  { client, metadata, signal }: ControllerContext,
): AsyncIterable<{ readonly items: readonly ApiObject[] }> {
  const isMetered = meteredResources.some((each) => sameResource(each, resource))
  return (isMetered ? client : metadata).listPages<ApiObject>(resource, { namespace, signal })
}

export function sameResource(a: GroupResource, b: GroupResource): boolean {
  return a.group === b.group && a.resource === b.resource
}
