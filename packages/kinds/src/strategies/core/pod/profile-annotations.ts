import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AppArmorProfile, Pod, SeccompProfile } from '../../../types/core-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { isSet, own } from '../../shared/values.ts'

/** Seccomp and AppArmor profiles of a new pod must be the same in annotations and fields. */

/** @param at the path of the specification */
export function validateProfileAnnotations(pod: DeepReadonly<Pod>, at: FieldPath, { domain }: NamingProfile): void {
  const { spec, metadata } = pod
  const annotation = (name: string) => own(metadata.annotations, name)
  const { seccompProfile, appArmorProfile } = spec?.securityContext ?? {}
  validateSeccomp(seccompProfile, annotation(`seccomp.security.alpha.${domain}/pod`), at)
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const [i, { name, securityContext }] of (spec?.[list] ?? []).entries()) {
      const text = annotation(`container.seccomp.security.alpha.${domain}/${name}`)
      validateSeccomp(securityContext?.seccompProfile, text, at.child(list).index(i))
    }
  }
  if (spec?.os?.name === 'windows') return
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const [i, { name, securityContext }] of (spec?.[list] ?? []).entries()) {
      const text = annotation(`container.apparmor.security.beta.${domain}/${name}`)
      validateAppArmor(securityContext?.appArmorProfile ?? appArmorProfile, text, at.child(list).index(i))
    }
  }
}

type Profile = DeepReadonly<SeccompProfile> | DeepReadonly<AppArmorProfile>

function validateSeccomp(profile: Profile | null | undefined, annotation: string | undefined, owner: FieldPath): void {
  if (!isSet(profile) || annotation === undefined) return
  const at = owner.child('securityContext').child('seccompProfile')
  validateSame(profile, annotation, { at, what: 'seccomp', runtimeDefaults: ['runtime/default', 'docker/default'] })
}

function validateAppArmor(profile: Profile | null | undefined, annotation: string | undefined, owner: FieldPath): void {
  if (!isSet(profile) || annotation === undefined) return
  const at = owner.child('securityContext').child('appArmorProfile')
  validateSame(profile, annotation, { at, what: 'apparmor', runtimeDefaults: ['runtime/default'] })
}

function validateSame(
  { type, localhostProfile }: Profile,
  annotation: string,
  { at, what, runtimeDefaults }: { readonly at: FieldPath; readonly what: string; readonly runtimeDefaults: readonly string[] },
): void {
  const prefix = 'localhost/'
  const isSameType =
    type === 'Unconfined'
      ? annotation === 'unconfined'
      : type === 'RuntimeDefault'
        ? runtimeDefaults.includes(annotation)
        : type !== 'Localhost' || annotation.startsWith(prefix)
  if (!isSameType) at.child('type').forbidden(`${what} type in annotation and field must match`)
  else if (type === 'Localhost' && annotation.slice(prefix.length) !== localhostProfile)
    at.child('localhostProfile').forbidden(`${what} profile in annotation and field must match`)
}
