import { goQuote } from '@krmkit/meta/go-text'
import { type Check, type CheckedPod, type CheckVersion, containersOf, named, quoted, sorted, type Violation } from './check.ts'

/** Checks of seccomp profiles: set by annotations before 1.19 and by fields since. */

const reason = 'seccompProfile'

/** The profile must not be `Unconfined`. */
export const seccompBaseline: Check = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  versions: [
    { since: 0, run: checkAnnotations },
    { since: 19, run: checkFields },
  ],
}

/** A profile must be set, by the pod or by every container. */
export const seccompRestricted: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  versions: [
    restricted(19, () => false),
    // Windows has no seccomp.
    restricted(25, ({ spec }) => spec.os?.name === 'windows'),
  ],
}

function isAllowedAnnotation(value: string): boolean {
  return value === '' || value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
}

function checkAnnotations(pod: CheckedPod): Violation | undefined {
  const forbidden = new Set<string>()
  const check = (key: string): void => {
    const value = Object.hasOwn(pod.annotations, key) ? pod.annotations[key] : undefined
    if (value !== undefined && !isAllowedAnnotation(value)) forbidden.add(`${key}=${goQuote(value)}`)
  }
  check('seccomp.security.alpha.kubernetes.io/pod'.replace('kubernetes.io', pod.domain))
  for (const { name } of containersOf(pod)) check(`container.seccomp.security.alpha.${pod.domain}/${name}`)
  if (forbidden.size === 0) return undefined
  return {
    reason,
    detail: `forbidden ${forbidden.size === 1 ? 'annotation' : 'annotations'} ${sorted(forbidden).join(', ')}`,
  }
}

function isAllowedType(type: string | undefined): boolean {
  return type === 'RuntimeDefault' || type === 'Localhost'
}

function checkFields(pod: CheckedPod): Violation | undefined {
  const values = new Set<string>()
  const isWrong = (type: string | undefined): boolean => {
    if (type === undefined || isAllowedType(type)) return false
    values.add(type)
    return true
  }
  const who: string[] = []
  if (isWrong(pod.spec.securityContext?.seccompProfile?.type)) who.push('pod')
  const bad = containersOf(pod)
    .filter(({ securityContext }) => isWrong(securityContext?.seccompProfile?.type))
    .map(({ name }) => name)
  if (bad.length > 0) who.push(named('container', bad))
  if (who.length === 0) return undefined
  return { reason, detail: `${who.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sorted(values))}` }
}

function restricted(since: number, isExempt: (pod: CheckedPod) => boolean): CheckVersion {
  return {
    since,
    replaces: [seccompBaseline.id],
    run: (pod) => (isExempt(pod) ? undefined : checkRequired(pod)),
  }
}

function checkRequired(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.seccompProfile?.type
  const values = new Set<string>()
  const isPodSafe = isAllowedType(ofPod)
  const isPodWrong = ofPod !== undefined && !isPodSafe
  if (isPodWrong) values.add(ofPod)
  const wrong: string[] = []
  const unset: string[] = []
  for (const { name, securityContext } of containersOf(pod)) {
    const type = securityContext?.seccompProfile?.type
    if (type === undefined) {
      // Containers inherit the pod's profile.
      if (!isPodSafe) unset.push(name)
    } else if (!isAllowedType(type)) {
      wrong.push(name)
      values.add(type)
    }
  }
  if (isPodWrong || wrong.length > 0) {
    const who = [...(isPodWrong ? ['pod'] : []), ...(wrong.length > 0 ? [named('container', wrong)] : [])]
    return {
      reason,
      detail: `${who.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sorted(values))}`,
    }
  }
  if (unset.length === 0) return undefined
  const detail = `pod or ${named('container', unset)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason, detail }
}
