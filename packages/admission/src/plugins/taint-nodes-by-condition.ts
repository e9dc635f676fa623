import type { ApiObject, NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { onResource } from '../targets.ts'

interface Taint {
  key: string
  effect: string
}

/**
 * Taints new nodes as not ready, so that pods are not scheduled to them before the node controller has seen their conditions.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { taintNodesByCondition } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: '', version: 'v1', kind: 'Node' }
 * const resource = { group: '', version: 'v1', resource: 'nodes' }
 * const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }
 * const result = await admit({ kind, resource, object }, [taintNodesByCondition(stockProfile)], new ObjectSet())
 * result.object?.['spec'] // { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] }
 * ```
 */
export function taintNodesByCondition(profile: NamingProfile): AdmissionPlugin {
  const taint: Taint = { key: `node.${profile.domain}/not-ready`, effect: 'NoSchedule' }
  return {
    name: 'TaintNodesByCondition',
    changes: 'members',
    handles: onResource('', 'nodes', ['CREATE']),
    admit(object, _attributes, { explain }) {
      const node = object as ApiObject & { spec?: { taints?: Taint[] } }
      const taints = node.spec?.taints ?? []
      if (taints.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return
      explain?.('a new node is not ready until its conditions are known')
      node.spec = { ...node.spec, taints: [...taints, taint] }
    },
  }
}
