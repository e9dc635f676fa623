/** Security context, host namespaces, user namespaces and operating system of a pod. */
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { Container, PodSecurityContext, PodSpec, Sysctl } from '../../types/core-v1.generated.ts'
import { validateEnum } from './enums.ts'
import type { FieldPath } from './field-path.ts'
import { validateDnsSubdomain } from './names.ts'
import { validateAppArmorProfile, validateId, validateSeccompProfile, validateWindowsOptions } from './security-context.ts'
import { isEmpty, isSet, type R } from './values.ts'

const groupChangePolicies = ['Always', 'OnRootMismatch']
const supplementalPolicies = ['Merge', 'Strict']
const seLinuxPolicies = ['MountOption', 'Recursive']
/** Without volumes that are mounted with a label. */
const recursiveOnly = ['Recursive']

/** `securityContext` of a pod; `spec` is the path of the pod's specification. */
export function validatePodSecurity(pod: R<PodSpec>, spec: FieldPath): void {
  const context: R<PodSecurityContext> = pod.securityContext ?? {}
  const at = spec.child('securityContext')
  validateId(context.fsGroup, at.child('fsGroup'))
  validateId(context.runAsUser, at.child('runAsUser'))
  validateId(context.runAsGroup, at.child('runAsGroup'))
  for (const [i, group] of (context.supplementalGroups ?? []).entries())
    validateId(group, at.child('supplementalGroups').index(i))
  const isLater = spec.errors.context.features.release.atLeast('1.37')
  if (!isLater) validateSharedProcesses(pod, at)
  validateSysctls(context.sysctls, at.child('sysctls'), pod)
  validateEnum(context.fsGroupChangePolicy, at.child('fsGroupChangePolicy'), groupChangePolicies)
  validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'))
  validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'))
  validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'))
  validateEnum(context.supplementalGroupsPolicy, at.child('supplementalGroupsPolicy'), supplementalPolicies)
  validateEnum(context.seLinuxChangePolicy, at.child('seLinuxChangePolicy'), mountsLabels(at) ? seLinuxPolicies : recursiveOnly)
  if (isLater) validateSharedProcesses(pod, spec)
}

/** @param at before 1.37 the path of the security context, where the member is not */
function validateSharedProcesses(pod: R<PodSpec>, at: FieldPath): void {
  if (pod.hostPID !== true || pod.shareProcessNamespace !== true) return
  at.child('shareProcessNamespace').invalid(true, 'ShareProcessNamespace and HostPID cannot both be enabled')
}

const sysctlPattern = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const sysctlFormat = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
const maxSysctl = 253

/** Whether `name` is a well-formed sysctl name. */
function isSysctlName(name: string): boolean {
  return name.length <= maxSysctl && sysctlPattern.test(name)
}

function validateSysctls(sysctls: readonly R<Sysctl>[] | null | undefined, at: FieldPath, pod: R<PodSpec>): void {
  const names = new Set<string>()
  for (const [i, sysctl] of (sysctls ?? []).entries()) {
    const here = at.index(i).child('name')
    if (isEmpty(sysctl.name)) here.required()
    else if (!isSysctlName(sysctl.name)) {
      here.invalid(sysctl.name, `must have at most ${maxSysctl} characters and match regex ${sysctlFormat}`)
    } else if (names.has(sysctl.name)) here.duplicate(sysctl.name)
    const name = (sysctl.name ?? '').replaceAll('/', '.')
    if (pod.hostNetwork === true && name.startsWith('net.'))
      here.invalid(sysctl.name, "may not be specified when 'hostNetwork' is true")
    if (pod.hostIPC === true && /^(kernel\.shm|kernel\.msg|kernel\.sem$|fs\.mqueue\.)/.test(name)) {
      here.invalid(sysctl.name, "may not be specified when 'hostIPC' is true")
    }
    names.add(sysctl.name)
  }
}

/** With host network, host ports must equal container ports; templates may leave them unset. */
export function validateHostNetwork(pod: R<PodSpec>, at: FieldPath, options: { readonly isPod: boolean }): void {
  if (pod.hostNetwork !== true) return
  for (const [i, container] of (pod.containers ?? []).entries()) {
    for (const [j, port] of (container.ports ?? []).entries()) {
      const hostPort = port.hostPort ?? 0
      if ((options.isPod || hostPort !== 0) && hostPort !== port.containerPort) {
        const here = at.child('containers').index(i).child('ports').index(j).child('hostPort')
        here.invalid(hostPort, 'must match `containerPort` when `hostNetwork` is true')
      }
    }
  }
}

/** A pod with a user namespace cannot share other namespaces of the host. */
export function validateHostUsers(pod: R<PodSpec>, at: FieldPath): void {
  if (pod.hostUsers !== false) return
  const { features } = at.errors.context
  const isLater = features.release.atLeast('1.34')
  const detail = isLater ? 'when `hostUsers` is false' : 'when `pod.Spec.HostUsers` is false'
  if (pod.hostNetwork === true && !gateEnabled('UserNamespacesHostNetworkSupport', features))
    at.child('hostNetwork').forbidden(detail)
  if (pod.hostPID === true) at.child('HostPID').forbidden(detail)
  if (pod.hostIPC === true) at.child('HostIPC').forbidden(detail)
  if (!isLater) return
  visitContainers(pod, at, (container, here) => {
    if (!isEmpty(container.volumeDevices)) here.child('volumeDevices').forbidden(detail)
  })
}

const longestHostname = 64

/** `hostnameOverride` of 1.34, which replaces the host name that a pod gets. */
export function validateHostname(pod: R<PodSpec>, at: FieldPath): void {
  const { hostnameOverride: name } = pod as { readonly hostnameOverride?: string | null }
  if (!isSet(name)) return
  const here = at.child('hostnameOverride')
  if (pod.setHostnameAsFQDN === true) here.forbidden('may not be specified when setHostnameAsFQDN is true')
  if (pod.hostNetwork === true) here.forbidden('may not be specified when hostNetwork is true')
  if (name.length > longestHostname) here.tooLong('', longestHostname)
  validateDnsSubdomain(name, here)
}

/** Windows host processes: all containers of the pod or none, and only with host network. */
export function validateWindowsHostProcess(pod: R<PodSpec>, at: FieldPath): void {
  const wholePod = pod.securityContext?.windowsOptions?.hostProcess
  let withIt = 0
  let containers = 0
  visitContainers(pod, at, (container, here) => {
    containers++
    const own = container.securityContext?.windowsOptions?.hostProcess
    if (own ?? wholePod ?? false) withIt++
    if (isSet(wholePod) && isSet(own) && wholePod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${wholePod}`
      here.child('securityContext').child('windowsOptions').child('hostProcess').invalid(own, detail)
    }
  })
  if (withIt === 0) return
  if (withIt !== containers) {
    at.invalid('', 'If pod contains any hostProcess containers then all containers must be HostProcess containers')
  }
  if (pod.hostNetwork !== true) {
    at.child('hostNetwork').invalid(false, 'hostNetwork must be true if pod contains any hostProcess containers')
  }
  if (at.errors.context.allowPrivileged !== true) at.forbidden('hostProcess containers are disallowed by cluster policy')
}

/** Calls `visit` for init containers, containers and ephemeral containers. */
function visitContainers(pod: R<PodSpec>, at: FieldPath, visit: (container: R<Container>, at: FieldPath) => void): void {
  for (const name of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const [i, container] of (pod[name] ?? []).entries()) visit(container as R<Container>, at.child(name).index(i))
  }
}

const linuxOnlyPod = ['seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls'] as const
const linuxOnlyPodRest = ['runAsUser', 'runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy'] as const
const linuxOnlyContainer = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const

/** `os` of a pod, and members that the operating system does not support. */
export function validateOs(pod: R<PodSpec>, at: FieldPath): void {
  if (!isSet(pod.os)) return
  const name = pod.os.name
  if (isEmpty(name)) {
    at.child('os').child('name').required('cannot be empty')
    return
  }
  if (name === 'linux') validateLinux(pod, at)
  else if (name === 'windows') validateWindows(pod, at)
  else at.child('os').notSupported(name, ['linux', 'windows'])
}

function validateLinux(pod: R<PodSpec>, at: FieldPath): void {
  const detail = 'windows options cannot be set for a linux pod'
  if (isSet(pod.securityContext?.windowsOptions)) at.child('securityContext').child('windowsOptions').forbidden(detail)
  visitContainers(pod, at, (container, here) => {
    if (isSet(container.securityContext?.windowsOptions)) here.child('securityContext').child('windowsOptions').forbidden(detail)
  })
}

function validateWindows(pod: R<PodSpec>, at: FieldPath): void {
  const detail = 'cannot be set for a windows pod'
  const context = pod.securityContext
  const here = at.child('securityContext')
  const refuse = (name: (typeof linuxOnlyPod)[number] | (typeof linuxOnlyPodRest)[number]): void => {
    const value = context?.[name]
    if (isSet(value) && !(Array.isArray(value) && value.length === 0)) here.child(name).forbidden(detail)
  }
  if (isSet(context?.appArmorProfile)) here.child('appArmorProfile').forbidden(detail)
  if (isSet(context?.seLinuxOptions)) here.child('seLinuxOptions').forbidden(detail)
  const isLater = at.errors.context.features.release.atLeast('1.37')
  if (!isLater) refuseHostNamespaces(pod, at)
  for (const name of linuxOnlyPod) refuse(name)
  if (!isLater && isSet(pod.shareProcessNamespace)) here.child('shareProcessNamespace').forbidden(detail)
  for (const name of linuxOnlyPodRest) refuse(name)
  if (isLater) {
    refuseHostNamespaces(pod, at)
    if (isSet(pod.shareProcessNamespace)) at.child('shareProcessNamespace').forbidden(detail)
  }
  visitContainers(pod, at, (container, place) => {
    for (const name of linuxOnlyContainer) {
      if (isSet(container.securityContext?.[name])) place.child('securityContext').child(name).forbidden(detail)
    }
  })
}

function refuseHostNamespaces(pod: R<PodSpec>, at: FieldPath): void {
  const detail = 'cannot be set for a windows pod'
  if (pod.hostUsers === true || pod.hostUsers === false) at.child('hostUsers').forbidden(detail)
  if (pod.hostPID === true) at.child('hostPID').forbidden(detail)
  if (pod.hostIPC === true) at.child('hostIPC').forbidden(detail)
}

function mountsLabels({ errors }: FieldPath): boolean {
  return gateEnabled('SELinuxMount', errors.context.features)
}
