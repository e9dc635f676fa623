import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import { controllerReference } from '../workloads/claims.ts'
import { mergeMaps } from '../workloads/merge-maps.ts'
import type { Pod, PodTemplate, ReadonlyPod } from '../workloads/objects.ts'
import { podFromTemplate } from '../workloads/pod-control.ts'
import { isReady } from '../workloads/pod-state.ts'
import { type ReadonlyRevision, revisionLabel, templateOf } from '../workloads/revisions.ts'

/** The parts of stateful sets and their claims that the controller reads and writes, and the identity of their pods. */

export interface Claim extends ApiObject {
  spec?: object
}

export interface StatefulSetStatus {
  replicas: number
  readyReplicas?: number
  currentReplicas?: number
  updatedReplicas?: number
  availableReplicas: number
  currentRevision?: string
  updateRevision?: string
  observedGeneration?: number
  collisionCount?: number
  conditions?: { type: string; status: string }[]
  [member: string]: unknown
}

export interface StatefulSet extends ApiObject {
  spec?: {
    replicas?: number
    selector?: LabelSelectorObject | null
    template?: PodTemplate
    volumeClaimTemplates?: Claim[]
    serviceName?: string
    podManagementPolicy?: string
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } }
    revisionHistoryLimit?: number
    minReadySeconds?: number
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string }
    ordinals?: { start?: number }
    [member: string]: unknown
  }
  status?: StatefulSetStatus
}

export type ReadonlyStatefulSet = DeepReadonly<StatefulSet>

export const statefulSets = resourceType<StatefulSet>({
  group: 'apps',
  version: 'v1',
  resource: 'statefulsets',
  kind: 'StatefulSet',
})

export const claims = resourceType<Claim>({
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
})

export const replicasOf = ({ spec }: ReadonlyStatefulSet): number => spec?.replicas ?? 1
export const firstOrdinal = ({ spec }: ReadonlyStatefulSet): number => spec?.ordinals?.start ?? 0
export const isParallel = ({ spec }: ReadonlyStatefulSet): boolean => spec?.podManagementPolicy === 'Parallel'

/** Returns the ordinal of a pod of a set, from its name; undefined for other pods. */
export function ordinalOf(set: ReadonlyStatefulSet, { metadata }: ReadonlyPod): number | undefined {
  const match = /^(.*)-(\d{1,10})$/.exec(metadata.name ?? '')
  return match?.[1] === set.metadata.name && Number(match?.[2]) < 2 ** 31 ? Number(match?.[2]) : undefined
}

/** Whether an ordinal is within the current replicas. */
export function isInRange(set: ReadonlyStatefulSet, ordinal: number): boolean {
  return ordinal >= firstOrdinal(set) && ordinal < firstOrdinal(set) + replicasOf(set)
}

export const isRunningAndReady = (pod: ReadonlyPod): boolean => pod.status?.phase === 'Running' && isReady(pod)
export const isHealthy = (pod: ReadonlyPod): boolean => isRunningAndReady(pod) && pod.metadata.deletionTimestamp === undefined
export const podRevision = ({ metadata }: ReadonlyPod): string => metadata.labels?.[revisionLabel] ?? ''

/** Labels with the identity of a pod. */
export function identityLabels(name: string, ordinal: number, { domain }: NamingProfile): Record<string, string> {
  return { [`statefulset.${domain}/pod-name`]: name, [`apps.${domain}/pod-index`]: String(ordinal) }
}

export function claimName(set: ReadonlyStatefulSet, template: DeepReadonly<Claim>, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`
}

/** Builds the pod of an ordinal from the template of a revision. */
export async function podOfSet(
  set: ReadonlyStatefulSet,
  revision: ReadonlyRevision,
  { ordinal, profile }: { readonly ordinal: number; readonly profile: NamingProfile },
): Promise<Pod> {
  const { namespace = '' } = set.metadata
  const name = `${set.metadata.name}-${ordinal}`
  const labels = { ...identityLabels(name, ordinal, profile), [revisionLabel]: revision.metadata.name ?? '' }
  const pod = await podFromTemplate(templateOf(revision), controllerReference(set, statefulSets), { namespace, labels })
  const { serviceName } = set.spec ?? {}
  const spec = { ...pod.spec, hostname: name, ...(serviceName ? { subdomain: serviceName } : {}) }
  return { ...pod, metadata: { ...pod.metadata, name }, spec: withClaims(set, spec, ordinal) }
}

/** Replaces the volumes named after claim templates by the claims of an ordinal. */
export function withClaims(set: ReadonlyStatefulSet, spec: NonNullable<Pod['spec']>, ordinal: number): NonNullable<Pod['spec']> {
  const templates = set.spec?.volumeClaimTemplates ?? []
  if (templates.length === 0) return spec
  const names = new Set(templates.map(({ metadata }) => metadata.name))
  const volumes = templates.map((template) => ({
    name: template.metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }))
  return { ...spec, volumes: [...volumes, ...(spec.volumes ?? []).filter(({ name }) => !names.has(name))] }
}

/** Whether a pod uses the claims of its ordinal. */
export function usesClaims(set: ReadonlyStatefulSet, { spec }: ReadonlyPod, ordinal: number): boolean {
  return (set.spec?.volumeClaimTemplates ?? []).every((template) => {
    const volume = spec?.volumes?.find(({ name }) => name === template.metadata.name)
    return volume?.persistentVolumeClaim?.claimName === claimName(set, template, ordinal)
  })
}

/** Returns the names of the claims of an ordinal. */
export function claimNames(set: ReadonlyStatefulSet, ordinal: number): string[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => claimName(set, template, ordinal))
}

/** Builds a claim of an ordinal. The claim shares parts with the template; do not mutate it. */
export async function claimOf(set: ReadonlyStatefulSet, template: DeepReadonly<Claim>, ordinal: number): Promise<Claim> {
  const { metadata, spec = {} } = template as Claim
  const labels = await mergeMaps(metadata.labels, set.spec?.selector?.matchLabels)
  const name = claimName(set, template, ordinal)
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...metadata, name, namespace: set.metadata.namespace ?? '', labels },
    spec,
  }
}
