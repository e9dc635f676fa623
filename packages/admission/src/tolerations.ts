import type { ApiObject, NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from './interfaces.ts'

interface Toleration {
  key?: string
  operator?: string
  effect?: string
  tolerationSeconds?: number
}

const defaultSeconds = 300

/** Lets pods stay for a while on nodes that are not ready or unreachable, unless they say for how long themselves. */
export function defaultTolerationSeconds(profile: NamingProfile, seconds = defaultSeconds): AdmissionPlugin {
  const keys = [`node.${profile.domain}/not-ready`, `node.${profile.domain}/unreachable`]
  return {
    name: 'DefaultTolerationSeconds',
    handles: ({ operation, resource, subresource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === '' &&
      resource.resource === 'pods' &&
      subresource === '',
    admit(object) {
      const pod = object as ApiObject & { spec: { tolerations?: Toleration[] } }
      const present = pod.spec.tolerations ?? []
      const missing = keys.filter((key) => !present.some((toleration) => tolerates(toleration, key)))
      if (missing.length === 0) return
      const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }))
      pod.spec = { ...pod.spec, tolerations: [...present, ...added] }
    },
  }
}

function tolerates({ key = '', effect = '' }: Toleration, wanted: string): boolean {
  return (key === '' || key === wanted) && (effect === '' || effect === 'NoExecute')
}

interface Taint {
  key: string
  effect: string
}

/** Marks new nodes as not ready, so that nothing is scheduled to them before somebody has looked. */
export function taintNodesByCondition(profile: NamingProfile): AdmissionPlugin {
  const taint: Taint = { key: `node.${profile.domain}/not-ready`, effect: 'NoSchedule' }
  return {
    name: 'TaintNodesByCondition',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' && resource.group === '' && resource.resource === 'nodes' && subresource === '',
    admit(object) {
      const node = object as ApiObject & { spec?: { taints?: Taint[] } }
      const taints = node.spec?.taints ?? []
      if (taints.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return
      node['spec'] = { ...node.spec, taints: [...taints, taint] }
    },
  }
}
