import { type DeepReadonly, type FieldError, field, Path } from '@krmkit/meta'
import { allContainers, type Pod } from '../pod.ts'
import { type Policy, type PolicyNames, podContext } from './policy.ts'

/** The errors of seccomp and AppArmor profiles, which policies govern by their annotations. */
export function checkProfiles(pod: DeepReadonly<Pod>, policy: Policy, names: PolicyNames): FieldError[] {
  return [...seccompErrors(pod, policy, names), ...appArmorErrors(pod, policy, names)]
}

function seccompErrors(pod: DeepReadonly<Pod>, policy: Policy, names: PolicyNames): FieldError[] {
  const allowed = listOf(policy.metadata.annotations?.[names.seccompAllowed])
  if (allowed?.includes('*')) return []
  const at = Path.of('metadata').child('annotations')
  const given: [Path, string | undefined][] = [
    [at.key(names.seccompPod), pod.metadata.annotations?.[names.seccompPod] ?? profileName(podContext(pod).seccompProfile)],
    ...allContainers(pod.spec).map(({ name, securityContext }): [Path, string | undefined] => {
      const key = `${names.seccompContainer}${name}`
      return [at.key(key), pod.metadata.annotations?.[key] ?? profileName(securityContext?.seccompProfile)]
    }),
  ]
  return given.flatMap(([place, profile]) => {
    if (allowed === undefined) return profile === undefined ? [] : [field.forbidden(place, 'seccomp may not be set')]
    if (profile === undefined || allowed.includes(profile)) return []
    return [field.forbidden(place, `${profile} is not an allowed seccomp profile. Valid values are ${allowed.join(',')}`)]
  })
}

/** The name in annotations of a profile that a security context has. */
function profileName(profile: DeepReadonly<{ type?: string; localhostProfile?: string }> | undefined): string | undefined {
  if (profile?.type === 'RuntimeDefault') return 'runtime/default'
  if (profile?.type === 'Unconfined') return 'unconfined'
  return profile?.type === 'Localhost' ? `localhost/${profile.localhostProfile ?? ''}` : undefined
}

function appArmorErrors(pod: DeepReadonly<Pod>, policy: Policy, names: PolicyNames): FieldError[] {
  const allowed = listOf(policy.metadata.annotations?.[names.appArmorAllowed])
  if (allowed === undefined || allowed.includes('*')) return []
  return allContainers(pod.spec).flatMap(({ name }) => {
    const key = `${names.appArmorContainer}${name}`
    const profile = pod.metadata.annotations?.[key] ?? ''
    if (allowed.includes(profile)) return []
    const detail = `${JSON.stringify(profile)} is not an allowed profile. Allowed values: ${JSON.stringify(allowed.join(','))}`
    return [field.forbidden(Path.of('metadata').child('annotations').key(key), detail)]
  })
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text === undefined ? undefined : text.split(',').map((each) => each.trim())
}
