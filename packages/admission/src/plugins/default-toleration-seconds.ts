import type { NamingProfile } from '@krmkit/meta'
import type { TolerationSeconds } from '../environment.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import type { Pod, Toleration } from '../pod.ts'
import { onResource } from '../targets.ts'

const defaultSeconds = 300

/**
 * Adds tolerations of the taints `not-ready` and `unreachable` to pods that do not tolerate them.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { defaultTolerationSeconds } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const plugins = [defaultTolerationSeconds(stockProfile, { notReady: 60 })]
 * const { decisions } = await admit({ ...pods, object }, plugins, new ObjectSet())
 * decisions[0]?.changes[0]?.after
 * // [
 * //   { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
 * //   { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
 * // ]
 * ```
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
