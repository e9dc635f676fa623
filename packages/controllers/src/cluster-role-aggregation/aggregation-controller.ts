import { gatheredRules } from '@krmkit/authorization'
import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'

interface ClusterRole extends ApiObject {
  rules?: unknown[] | null
  aggregationRule?: { clusterRoleSelectors?: unknown[] } | null
}

/** Owner of the rules that are gathered: whoever else writes them loses them again. */
const fieldManager = 'clusterrole-aggregation-controller'

/** Gives roles that have an `aggregationRule` the rules of those that it selects. Roles may gather from roles that gather. */
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
          void known.synced.then(
            () => work.add(name),
            () => undefined,
          )
          return undefined
        }
        const role = known.get(name)
        const rules = role === undefined ? undefined : gatheredRules(role, known.list())
        if (role === undefined || rules === undefined || same(role, rules)) return undefined
        const metadata = { name }
        const wanted = rules.length === 0 ? { metadata } : { metadata, rules: structuredClone(rules) as unknown[] }
        const applied = await ignoreNotFound(client.apply(type, wanted, { fieldManager, force: true, signal }))
        // Rules that somebody else owns are not taken away by an apply that subscriptions them out.
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
