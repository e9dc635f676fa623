import type { NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { allContainers, type Pod } from '../pod.ts'
import { isExtendedResource } from '../resource-names.ts'
import { onResource } from '../targets.ts'

/**
 * Adds tolerations for the extended resources that a pod requests, so that it can run on nodes dedicated to them.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { extendedResourceToleration } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const resources = { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1', resources }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { decisions } = await admit({ ...pods, object }, [extendedResourceToleration(stockProfile)], new ObjectSet())
 * decisions[0]?.changes[0]?.after // [{ key: 'example.com/gpu', operator: 'Exists' }]
 * ```
 */
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
