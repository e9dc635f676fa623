import type { NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import type { Pod, Toleration } from '../pod.ts'
import { onResource } from '../targets.ts'

/** How long a pod tolerates a failed node, in seconds. */
export interface TolerationSeconds {
  /** Default 300. */
  readonly notReady?: number
  /** Default 300. */
  readonly unreachable?: number
}

const defaultSeconds = 300

/**
 * Adds tolerations of the taints `not-ready` and `unreachable` to pods that do not tolerate them.
 *
 * @see API protocol specification, 5.10
 */
export function defaultTolerationSeconds(profile: NamingProfile, seconds: TolerationSeconds = {}): AdmissionPlugin {
  const defaults = [
    toleration(`node.${profile.domain}/not-ready`, seconds.notReady),
    toleration(`node.${profile.domain}/unreachable`, seconds.unreachable),
  ]
  return {
    name: 'DefaultTolerationSeconds',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE']),
    admit(object, _attributes, { explain }) {
      const pod = object as Pod
      const present = pod.spec.tolerations ?? []
      const missing = defaults.filter(({ key }) => !present.some((each) => tolerates(each, key)))
      if (missing.length === 0) return
      explain?.(`the pod does not tolerate ${missing.map(({ key }) => key).join(', ')}`)
      pod.spec = { ...pod.spec, tolerations: [...present, ...missing] }
    },
  }
}

function toleration(key: string, tolerationSeconds = defaultSeconds): Toleration & { key: string } {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }
}

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === '' || key === taint) && (effect === '' || effect === 'NoExecute')
}
