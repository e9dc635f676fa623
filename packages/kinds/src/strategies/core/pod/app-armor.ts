import { trimSpace } from '@krmkit/meta/go-text'
import type { StrategyContext } from '../../../interfaces.ts'
import type { AppArmorProfile, Pod } from '../../../types/core-v1.generated.ts'

/** AppArmor profiles of containers: the field, and the annotation that older nodes read. */

const longestName = 4095

/**
 * Sets the annotation of each container whose profile only the field gives, before 1.34, and the field of each whose profile only the
 * annotation gives. Pods of Windows have no profiles.
 */
export function syncAppArmor(
  pod: Pod,
  { profile, warn, features }: Pick<StrategyContext, 'profile' | 'warn' | 'features'>,
): void {
  const annotates = !features.release.atLeast('1.34')
  const { spec } = pod
  if (spec === undefined || spec === null || spec.os?.name === 'windows') return
  const ofPod = spec.securityContext?.appArmorProfile
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]) {
    const key = `container.apparmor.security.beta.${profile.domain}/${container.name}`
    const { annotations } = pod.metadata
    const annotation =
      annotations !== undefined && annotations !== null && Object.hasOwn(annotations, key) ? annotations[key] : undefined
    const field = container.securityContext?.appArmorProfile
    if (annotation === undefined) {
      const text = annotates ? annotationOf(field ?? ofPod) : undefined
      if (text !== undefined) pod.metadata.annotations = { ...annotations, [key]: text }
    } else if (field === undefined || field === null) {
      const found = fieldOf(annotation)
      const isOwn = found !== undefined && (found.type !== ofPod?.type || found.localhostProfile !== ofPod?.localhostProfile)
      if (isOwn) container.securityContext = { ...container.securityContext, appArmorProfile: found }
      if (isOwn || found === undefined)
        warn?.(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
    }
  }
}

function annotationOf(profile: AppArmorProfile | null | undefined): string | undefined {
  if (profile?.type === 'Unconfined') return 'unconfined'
  if (profile?.type === 'RuntimeDefault') return 'runtime/default'
  const name = profile?.type === 'Localhost' ? profile.localhostProfile : undefined
  return name === undefined || name === null ? undefined : `localhost/${name}`
}

/** `undefined` for annotations that name no valid profile. */
function fieldOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : ''
  return name === '' || trimSpace(name) !== name || name.length > longestName
    ? undefined
    : { type: 'Localhost', localhostProfile: name }
}
