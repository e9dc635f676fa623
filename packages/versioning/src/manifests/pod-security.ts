import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { ownMember } from './objects.ts'

/** The level of Pod Security admission that corresponds to a PodSecurityPolicy, and what the level cannot express. */

export interface PodSecurityLevel {
  /** The strictest level that admits all pods that the policy allows. */
  readonly level: 'privileged' | 'baseline' | 'restricted'
  /** Why the level is not stricter. */
  readonly because: readonly string[]
  /** Members of the policy that no level can express. */
  readonly notCarried: readonly string[]
}

const baselineCapabilities = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' '),
)
const restrictedVolumes = new Set(
  'configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret'.split(' '),
)

/**
 * Compares a PodSecurityPolicy with the levels of Pod Security admission.
 *
 * @example
 * import { podSecurityLevel } from '@krmkit/versioning'
 * podSecurityLevel({ spec: { hostNetwork: true } }).level // 'privileged'
 */
export function podSecurityLevel(policy: JsonObject): PodSecurityLevel {
  const found = ownMember(policy, 'spec')
  const spec = isJsonObject(found) ? found : {}
  const notCarried = mutating(spec, policy)
  const beyondBaseline = privilegedMembers(spec)
  if (beyondBaseline.length > 0) return { level: 'privileged', because: beyondBaseline, notCarried }
  const beyondRestricted = unrestrictedMembers(spec, policy)
  if (beyondRestricted.length > 0) return { level: 'baseline', because: beyondRestricted, notCarried }
  return { level: 'restricted', because: [], notCarried }
}

function texts(spec: JsonObject, name: string): string[] {
  const list = ownMember(spec, name)
  return Array.isArray(list) ? list.filter((each): each is string => typeof each === 'string') : []
}

function privilegedMembers(spec: JsonObject): string[] {
  const flags = ['privileged', 'hostPID', 'hostIPC', 'hostNetwork'].filter((name) => ownMember(spec, name) === true)
  const lists = ['hostPorts', 'allowedHostPaths', 'allowedUnsafeSysctls'].filter((name) => {
    const list = ownMember(spec, name)
    return Array.isArray(list) && list.length > 0
  })
  const volumes = texts(spec, 'volumes').some((each) => each === '*' || each === 'hostPath') ? ['volumes'] : []
  const added = ['allowedCapabilities', 'defaultAddCapabilities'].filter((name) =>
    texts(spec, name).some((each) => !baselineCapabilities.has(each)),
  )
  const mounts = texts(spec, 'allowedProcMountTypes').includes('Unmasked') ? ['allowedProcMountTypes'] : []
  return [...flags, ...lists, ...volumes, ...added, ...mounts]
}

function unrestrictedMembers(spec: JsonObject, policy: JsonObject): string[] {
  const rule = (name: string): unknown => {
    const strategy = ownMember(spec, name)
    return isJsonObject(strategy) ? ownMember(strategy, 'rule') : undefined
  }
  const checks: readonly (readonly [string, boolean])[] = [
    ['allowPrivilegeEscalation', ownMember(spec, 'allowPrivilegeEscalation') === false],
    ['runAsUser', rule('runAsUser') === 'MustRunAsNonRoot'],
    ['requiredDropCapabilities', texts(spec, 'requiredDropCapabilities').includes('ALL')],
    ['allowedCapabilities', texts(spec, 'allowedCapabilities').every((each) => each === 'NET_BIND_SERVICE')],
    ['volumes', texts(spec, 'volumes').every((each) => restrictedVolumes.has(each))],
    [seccompProfiles, !['', '*'].includes(annotation(policy, seccompProfiles))],
  ]
  return checks.filter(([, holds]) => !holds).map(([name]) => name)
}

const seccompProfiles = 'seccomp.security.alpha.kubernetes.io/allowedProfileNames'

function annotation(policy: JsonObject, name: string): string {
  const metadata = ownMember(policy, 'metadata')
  const annotations = isJsonObject(metadata) ? ownMember(metadata, 'annotations') : undefined
  const value = isJsonObject(annotations) ? ownMember(annotations, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Returns members that change pods, or restrict what no level restricts. */
function mutating(spec: JsonObject, policy: JsonObject): string[] {
  const names = [
    'defaultAddCapabilities',
    'defaultAllowPrivilegeEscalation',
    'readOnlyRootFilesystem',
    'allowedFlexVolumes',
    'allowedCSIDrivers',
    'forbiddenSysctls',
    'runtimeClass',
    'hostPorts',
    'allowedHostPaths',
  ].filter((name) => {
    const value = ownMember(spec, name)
    return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
  })
  const ranges = ['seLinux', 'runAsGroup', 'supplementalGroups', 'fsGroup'].filter((name) => {
    const strategy = ownMember(spec, name)
    return isJsonObject(strategy) && ownMember(strategy, 'rule') !== 'RunAsAny'
  })
  const defaults = [
    'seccomp.security.alpha.kubernetes.io/defaultProfileName',
    'apparmor.security.beta.kubernetes.io/defaultProfileName',
  ].filter((name) => annotation(policy, name) !== '')
  return [...names, ...ranges, ...defaults]
}
