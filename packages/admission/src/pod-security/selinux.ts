import type { SecurityContext } from '../pod.ts'
import { type Check, type CheckedPod, type CheckVersion, containersOf, named, plural, quoted, sorted } from './check.ts'

type Options = Readonly<NonNullable<SecurityContext['seLinuxOptions']>>

function version(since: number, types: readonly string[]): CheckVersion {
  const allowed = new Set(types)
  return { since, run: (pod) => checkOptions(pod, allowed) }
}

const types = ['', 'container_t', 'container_init_t', 'container_kvm_t']

/** Allows a few SELinux types, and no custom users or roles. */
export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  versions: [version(0, types), version(31, [...types, 'container_engine_t'])],
}

function checkOptions(pod: CheckedPod, allowed: ReadonlySet<string>): ReturnType<CheckVersion['run']> {
  const badTypes = new Set<string>()
  let isUserSet = false
  let isRoleSet = false
  const isValid = (options: Options): boolean => {
    const { type = '', user = '', role = '' } = options
    if (!allowed.has(type)) badTypes.add(type)
    if (user !== '') isUserSet = true
    if (role !== '') isRoleSet = true
    return allowed.has(type) && user === '' && role === ''
  }
  const who: string[] = []
  const ofPod = pod.spec.securityContext?.seLinuxOptions
  if (ofPod !== undefined && !isValid(ofPod)) who.push('pod')
  const bad = containersOf(pod)
    .filter(({ securityContext }) => securityContext?.seLinuxOptions !== undefined && !isValid(securityContext.seLinuxOptions))
    .map(({ name }) => name)
  if (bad.length > 0) who.push(named('container', bad))
  if (who.length === 0) return undefined
  const data = [
    ...(badTypes.size === 0 ? [] : [`${plural('type', badTypes.size)} ${quoted(sorted(badTypes))}`]),
    ...(isUserSet ? ['user may not be set'] : []),
    ...(isRoleSet ? ['role may not be set'] : []),
  ]
  return {
    reason: 'seLinuxOptions',
    detail: `${who.join(' and ')} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
  }
}
