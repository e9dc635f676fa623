import type { NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { allContainers, type Pod } from '../pod.ts'
import { isExtendedResource } from '../resource-names.ts'
import { onResource } from '../targets.ts'

/** Adds tolerations for the extended resources that a pod requests, so that it can run on nodes dedicated to them. */
export function extendedResourceToleration({ domain }: NamingProfile): AdmissionPlugin {
  return {
    name: 'ExtendedResourceToleration',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE']),
    admit(object) {
      const pod = object as Pod
      const requested = new Set(
        allContainers({ containers: pod.spec.containers ?? [], initContainers: pod.spec.initContainers ?? [] }).flatMap(
          ({ resources }) => Object.keys(resources?.requests ?? {}).filter((name) => isExtendedResource(name, domain)),
        ),
      )
      const present = pod.spec.tolerations ?? []
      const tolerated = new Set(
        present.filter(({ operator, effect = '' }) => operator === 'Exists' && effect === '').map(({ key }) => key),
      )
      const missing = [...requested]
        .sort()
        .filter((key) => !tolerated.has(key))
        .map((key) => ({ key, operator: 'Exists' }))
      if (missing.length > 0) pod.spec = { ...pod.spec, tolerations: [...present, ...missing] }
    },
  }
}
