import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Container, Pod, SecurityContext } from '../pod.ts'

/** PodSecurityPolicy of the releases before 1.25, and the members of pods that it governs. */

export interface Range {
  min?: number
  max?: number
}

/** How a policy chooses ids: `MustRunAs`, `MayRunAs`, `MustRunAsNonRoot` or `RunAsAny`. */
export interface IdRule {
  rule?: string
  ranges?: Range[]
}

export interface SELinuxOptions {
  user?: string
  role?: string
  type?: string
  level?: string
}

export interface PolicySpec {
  privileged?: boolean
  defaultAddCapabilities?: string[]
  requiredDropCapabilities?: string[]
  allowedCapabilities?: string[]
  volumes?: string[]
  hostNetwork?: boolean
  hostPorts?: Range[]
  hostPID?: boolean
  hostIPC?: boolean
  seLinux?: { rule?: string; seLinuxOptions?: SELinuxOptions }
  runAsUser?: IdRule
  runAsGroup?: IdRule
  supplementalGroups?: IdRule
  fsGroup?: IdRule
  readOnlyRootFilesystem?: boolean
  defaultAllowPrivilegeEscalation?: boolean
  allowPrivilegeEscalation?: boolean
  allowedHostPaths?: { pathPrefix?: string; readOnly?: boolean }[]
  allowedFlexVolumes?: { driver?: string }[]
  allowedCSIDrivers?: { name?: string }[]
  allowedUnsafeSysctls?: string[]
  forbiddenSysctls?: string[]
  allowedProcMountTypes?: string[]
  runtimeClass?: { allowedRuntimeClassNames?: string[]; defaultRuntimeClassName?: string }
}

export interface PodSecurityPolicy extends ApiObject {
  spec?: PolicySpec
}

export type Policy = DeepReadonly<PodSecurityPolicy>

/** The members of a container's context that policies set. */
export interface ContainerContext extends SecurityContext {
  runAsGroup?: number
  readOnlyRootFilesystem?: boolean
}

/** The members of a pod's context that policies set. */
export interface PodContext extends ContainerContext {
  fsGroup?: number
  supplementalGroups?: number[]
  sysctls?: { name: string; value?: string }[]
}

export type GovernedContainer = DeepReadonly<Container> & { readonly securityContext?: DeepReadonly<ContainerContext> }

export function podContext({ spec }: DeepReadonly<Pod>): DeepReadonly<PodContext> {
  return (spec.securityContext ?? {}) as DeepReadonly<PodContext>
}

/** The context of a container, in which it inherits from its pod. */
export function effectiveContext(
  pod: DeepReadonly<Pod>,
  { securityContext = {} }: GovernedContainer,
): DeepReadonly<ContainerContext> {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = podContext(pod)
  const inherited = { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions }
  const defined = Object.entries({ ...inherited, ...securityContext }).filter(
    ([, value]) => value !== undefined && value !== null,
  )
  return Object.fromEntries(defined)
}

/** Names of the annotations of policies and pods. */
export interface PolicyNames {
  /** On pods: the policy that admitted them. */
  readonly psp: string
  readonly seccompPod: string
  readonly seccompContainer: string
  readonly seccompDefault: string
  readonly seccompAllowed: string
  readonly appArmorContainer: string
  readonly appArmorDefault: string
  readonly appArmorAllowed: string
}

export function policyNames(domain: string): PolicyNames {
  const seccomp = `seccomp.security.alpha.${domain}`
  const appArmor = `apparmor.security.beta.${domain}`
  return {
    psp: `${domain}/psp`,
    seccompPod: `${seccomp}/pod`,
    seccompContainer: `container.${seccomp}/`,
    seccompDefault: `${seccomp}/defaultProfileName`,
    seccompAllowed: `${seccomp}/allowedProfileNames`,
    appArmorContainer: `container.${appArmor}/`,
    appArmorDefault: `${appArmor}/defaultProfileName`,
    appArmorAllowed: `${appArmor}/allowedProfileNames`,
  }
}
