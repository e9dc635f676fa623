import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

/**
 * Refuses required pod anti-affinity over any topology larger than a node.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { limitPodHardAntiAffinityTopology } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const terms = [{ topologyKey: 'topology.kubernetes.io/zone', labelSelector: {} }]
 * const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } }
 * const spec = { affinity, containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { status } = await admit({ ...pods, object }, [limitPodHardAntiAffinityTopology(stockProfile)], new ObjectSet())
 * status?.message
 * // 'pods "web" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey topology.kubernetes.io/zone
 * // but only key kubernetes.io/hostname is allowed'
 * ```
 */
export function limitPodHardAntiAffinityTopology({ domain }: NamingProfile): AdmissionPlugin {
  const allowed = `${domain}/hostname`
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE']),
    validate(object, attributes) {
      const pod = object as DeepReadonly<Pod>
      const required = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
      for (const { topologyKey = '' } of required) {
        if (topologyKey === allowed) continue
        const detail = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${allowed} is allowed`
        throw forbidden(attributes, pod, detail)
      }
    },
  }
}
