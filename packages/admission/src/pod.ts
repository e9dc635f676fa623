import type { ApiObject, DeepReadonly } from '@krmkit/meta'

/** The part of the Pod type that plugins read. */

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export type ResourceAmounts = Record<string, string>

export interface SecurityContext {
  privileged?: boolean
  allowPrivilegeEscalation?: boolean
  runAsNonRoot?: boolean
  runAsUser?: number
  procMount?: string
  capabilities?: { add?: string[]; drop?: string[] }
  seccompProfile?: { type?: string }
  appArmorProfile?: { type?: string }
  seLinuxOptions?: { user?: string; role?: string; type?: string; level?: string }
  windowsOptions?: { hostProcess?: boolean }
}

export interface EnvironmentVariable {
  name: string
  valueFrom?: { secretKeyRef?: { name?: string } }
}

export interface VolumeMount {
  name: string
  mountPath: string
  readOnly?: boolean
}

export interface Container {
  name: string
  image?: string
  imagePullPolicy?: string
  restartPolicy?: string
  ports?: { hostPort?: number }[]
  env?: EnvironmentVariable[]
  envFrom?: { secretRef?: { name?: string } }[]
  resources?: { requests?: ResourceAmounts; limits?: ResourceAmounts }
  securityContext?: SecurityContext
  volumeMounts?: VolumeMount[]
}

export interface ProjectedSource {
  serviceAccountToken?: object
  secret?: { name?: string }
  [source: string]: unknown
}

export interface Volume {
  name: string
  secret?: { secretName?: string }
  image?: { pullPolicy?: string }
  projected?: { sources?: ProjectedSource[]; defaultMode?: number }
  [source: string]: unknown
}

interface AffinityTerm {
  topologyKey?: string
  namespaces?: string[]
  namespaceSelector?: object
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: AffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: AffinityTerm }[]
}

export interface PodSpec {
  activeDeadlineSeconds?: number
  affinity?: { podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity }
  automountServiceAccountToken?: boolean
  containers?: Container[]
  ephemeralContainers?: Container[]
  hostIPC?: boolean
  hostNetwork?: boolean
  hostPID?: boolean
  hostUsers?: boolean
  imagePullSecrets?: { name?: string }[]
  initContainers?: Container[]
  nodeName?: string
  nodeSelector?: Record<string, string>
  os?: { name?: string }
  overhead?: ResourceAmounts
  preemptionPolicy?: string
  priority?: number
  priorityClassName?: string
  resources?: { requests?: ResourceAmounts; limits?: ResourceAmounts }
  resourceClaims?: { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[]
  runtimeClassName?: string
  securityContext?: SecurityContext & { sysctls?: { name: string; value?: string }[] }
  serviceAccount?: string
  serviceAccountName?: string
  tolerations?: Toleration[]
  volumes?: Volume[]
}

export interface ContainerStatus {
  name: string
  resources?: { requests?: ResourceAmounts; limits?: ResourceAmounts }
  allocatedResources?: ResourceAmounts
}

export interface Pod extends ApiObject {
  spec: PodSpec
  status?: {
    phase?: string
    qosClass?: string
    conditions?: { type: string; status: string; reason?: string }[]
    containerStatuses?: ContainerStatus[]
    initContainerStatuses?: ContainerStatus[]
  }
}

type Kind = 'containers' | 'initContainers' | 'ephemeralContainers'

/** In kube-apiserver's visiting order. */
export const containerKinds: readonly Kind[] = ['initContainers', 'containers', 'ephemeralContainers']

/** All containers of a pod, init containers first, ephemeral ones last. */
export function allContainers(spec: DeepReadonly<PodSpec>): readonly DeepReadonly<Container>[] {
  return containerKinds.flatMap((kind) => spec[kind] ?? [])
}

/** Maps the containers of a pod spec. Unchanged parts are shared with the original. */
export function withContainers(
  spec: PodSpec,
  change: (container: Container, kind: Kind) => Container,
  kinds: readonly Kind[] = containerKinds,
): PodSpec {
  let next = spec
  for (const kind of kinds) {
    const before = spec[kind]
    // Clients may send null.
    if (before === undefined || before === null) continue
    const after = before.map((container) => change(container, kind))
    if (after.some((container, i) => container !== before[i])) next = { ...next, [kind]: after }
  }
  return next
}

/** Whether a pod mirrors a static pod of its node. */
export function isMirror(pod: DeepReadonly<ApiObject>, domain: string): boolean {
  return Object.hasOwn(pod.metadata.annotations ?? {}, `${domain}/config.mirror`)
}
