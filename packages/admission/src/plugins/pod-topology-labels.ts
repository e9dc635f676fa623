import type { ApiObject, NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { onResource } from '../targets.ts'

interface Binding extends ApiObject {
  target?: { kind?: string; name?: string }
}

/**
 * Copies the zone and the region of a node to the labels of pods that are created on it, and to the labels of bindings, which the server
 * copies to the pod that is bound. Needs the gate `PodTopologyLabelsAdmission`.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podTopologyLabels } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const labels = { 'topology.k8s.io/zone': 'a', disk: 'ssd' }
 * cluster.put({ group: '', resource: 'nodes' }, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels } })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { nodeName: 'n1' } }
 * const result = await admit({ ...pods, object }, [podTopologyLabels(stockProfile)], cluster)
 * result.object?.metadata.labels // { 'topology.k8s.io/zone': 'a' }
 * ```
 */
export function podTopologyLabels({ apiDomain }: NamingProfile): AdmissionPlugin {
  const copied = [`topology.${apiDomain}/zone`, `topology.${apiDomain}/region`]
  return {
    name: 'PodTopologyLabels',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE'], ['', 'binding']),
    admit(object, { subresource }, { reader, explain }) {
      const node = subresource === 'binding' ? boundNode(object as Binding) : (object as Pod).spec?.nodeName
      if (node === undefined || node === '') return
      const labels = reader.get({ group: '', resource: 'nodes' }, '', node)?.metadata.labels ?? {}
      const found = copied.filter((key) => Object.hasOwn(labels, key)).map((key) => [key, labels[key] as string] as const)
      if (found.length === 0) return
      explain?.(`topology of node ${node}`)
      object.metadata.labels = { ...object.metadata.labels, ...Object.fromEntries(found) }
    },
  }
}

function boundNode({ target }: Binding): string | undefined {
  return target?.kind === 'Node' ? target.name : undefined
}
