import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

/**
 * Refuses required pod anti-affinity over any topology larger than a node.
 *
 * @see API protocol specification, 5.10
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
