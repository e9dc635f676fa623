import { aggregatedRules } from '@krmkit/authorization/rbac'
import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'

interface ClusterRole extends ApiObject {
  rules?: unknown[] | null
  aggregationRule?: { clusterRoleSelectors?: unknown[] } | null
}

/** Field manager that owns the aggregated rules; changes by other managers are overwritten. */
const fieldManager = 'clusterrole-aggregation-controller'

/**
 * Sets the rules of roles with an `aggregationRule` to the union of the rules of the selected roles. Selected roles may be
 * aggregated themselves.
 */
export const clusterRoleAggregationController: Controller = {
  name: 'clusterrole-aggregation-controller',
  start({ client, informers, profile, signal, queue }) {
    const type = resourceType<ClusterRole>({
      group: `rbac.authorization.${profile.apiDomain}`,
      version: 'v1',
      resource: 'clusterroles',
      kind: 'ClusterRole',
      namespaced: false,
    })
    const known = informers.of(type)
    const work = queue<string>({
      async sync(name) {
        if (!known.hasSynced) {
          work.addAfterSync(name, known.synced)
          return undefined
        }
        const role = known.get(name)
        const rules = role === undefined ? undefined : aggregatedRules(role, known.list())
        if (role === undefined || rules === undefined || same(role, rules)) return undefined
        const metadata = { name }
        const wanted = rules.length === 0 ? { metadata } : { metadata, rules: structuredClone(rules) as unknown[] }
        const applied = await ignoreNotFound(client.apply(type, wanted, { fieldManager, force: true, signal }))
        // An update, because an apply cannot remove rules that another manager owns.
        if (applied !== undefined && !same(applied, rules)) {
          await ignoreNotFound(client.update(type, { ...applied, rules: [...rules] }, { fieldManager, signal }))
        }
        return undefined
      },
    })
    const enqueueAll = () => {
      for (const { metadata, aggregationRule } of known.list()) {
        if (aggregationRule !== undefined && aggregationRule !== null) work.add(metadata.name ?? '')
      }
    }
    const unsubscribe = known.on({ added: enqueueAll, updated: enqueueAll, deleted: enqueueAll })
    return disposeSubscriptions([unsubscribe])
  },
}

function same({ rules }: DeepReadonly<ClusterRole>, wanted: readonly unknown[]): boolean {
  return JSON.stringify(rules ?? []) === JSON.stringify(wanted)
}
