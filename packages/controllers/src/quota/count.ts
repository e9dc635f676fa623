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
import { weighed } from './objects.ts'

/** What the objects of a namespace cost a quota, counted from what the server has now. */

type Quota = DeepReadonly<ResourceQuota>

const zero = Quantity.of(0)

/** Resources whose objects a quota counts. */
export function countedBy(
  { spec }: Quota,
  resources: readonly DiscoveredResource[],
  evaluatorOf: UsageEvaluators,
): DiscoveredResource[] {
  const names = Object.keys(spec?.hard ?? {})
  return resources.filter((resource) => resource.namespaced && evaluatorOf(resource).matchingResources(names).length > 0)
}

/** @returns the status as it should be. */
export async function countedStatus(
  quota: Quota,
  resources: readonly DiscoveredResource[],
  { context, evaluatorOf }: { readonly context: ControllerContext; readonly evaluatorOf: UsageEvaluators },
): Promise<NonNullable<ResourceQuota['status']>> {
  const hard = parseUsage(quota.spec?.hard)
  const limited = { quota, hard }
  let used = new Map<string, Quantity>()
  const tracked = new Set<string>()
  for (const resource of countedBy(quota, resources, evaluatorOf)) {
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
  const whole = new Map(
    [...hard.keys()].flatMap((name) => {
      // What nobody counts keeps what somebody said of it.
      const amount = tracked.has(name) ? (used.get(name) ?? zero) : before.get(name)
      return amount === undefined ? [] : [[name, amount] as const]
    }),
  )
  return { hard: formatUsage(hard), used: formatUsage(whole) }
}

/** Whole objects where their content counts, metadata of the others; page by page, so that a large namespace delays nothing else. */
function pagesOf(
  resource: DiscoveredResource,
  namespace: string,
  { client, metadata, signal }: ControllerContext,
): AsyncIterable<{ readonly items: readonly ApiObject[] }> {
  const isWeighed = weighed.some((each) => sameResource(each, resource))
  return (isWeighed ? client : metadata).listPages<ApiObject>(resource, { namespace, signal })
}

export function sameResource(a: GroupResource, b: GroupResource): boolean {
  return a.group === b.group && a.resource === b.resource
}
