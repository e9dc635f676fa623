import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import { type IntOrString, scaledValue } from '@krmkit/meta/int-or-string'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import { controllerReference } from '../workloads/claims.ts'
import { matchesNode, untoleratedTaint } from '../workloads/node-selection.ts'
import type { Node, Pod, PodSpec, PodTemplate, ReadonlyPod, Toleration } from '../workloads/objects.ts'
import { podFromTemplate } from '../workloads/pod-control.ts'
import { revisionLabel } from '../workloads/revisions.ts'

/** The parts of daemon sets that the controller reads and writes, their pods, and the nodes of these pods. */

export interface DaemonSetStatus {
  currentNumberScheduled: number
  numberMisscheduled: number
  desiredNumberScheduled: number
  numberReady: number
  updatedNumberScheduled?: number
  numberAvailable?: number
  numberUnavailable?: number
  observedGeneration?: number
  collisionCount?: number
  [member: string]: unknown
}

export interface DaemonSet extends ApiObject {
  spec?: {
    selector?: LabelSelectorObject | null
    template?: PodTemplate
    updateStrategy?: { type?: string; rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString } }
    minReadySeconds?: number
    revisionHistoryLimit?: number
    [member: string]: unknown
  }
  status?: DaemonSetStatus
}

export type ReadonlyDaemonSet = DeepReadonly<DaemonSet>
export type ReadonlyNode = DeepReadonly<Node>

export const daemonSets = resourceType<DaemonSet>({ group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet' })

const generationAnnotation = 'deprecated.daemonset.template.generation'
const generationLabel = 'pod-template-generation'

/** Returns the tolerations that are added to every pod of a daemon set. */
function defaultTolerations({ domain }: NamingProfile, spec: DeepReadonly<PodSpec>): Toleration[] {
  const tolerated = (effect: string, ...names: string[]) =>
    names.map((name) => ({ key: `node.${domain}/${name}`, operator: 'Exists', effect }))
  return [
    ...tolerated('NoExecute', 'not-ready', 'unreachable'),
    ...tolerated('NoSchedule', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'),
    ...(spec.hostNetwork === true ? tolerated('NoSchedule', 'network-unavailable') : []),
  ]
}

function tolerationsOf(spec: DeepReadonly<PodSpec>, profile: NamingProfile): Toleration[] {
  const added = defaultTolerations(profile, spec)
  const isReplaced = ({ key, operator, value, effect }: DeepReadonly<Toleration>) =>
    added.some((other) => other.key === key && other.operator === operator && (value ?? '') === '' && other.effect === effect)
  return [...((spec.tolerations ?? []) as Toleration[]).filter((toleration) => !isReplaced(toleration)), ...added]
}

/** Whether a pod should be created on a node, and whether an existing one may stay there. */
export interface Placement {
  readonly shouldRun: boolean
  readonly mayStay: boolean
}

export function placementOn(set: ReadonlyDaemonSet, node: ReadonlyNode, profile: NamingProfile): Placement {
  const spec = set.spec?.template?.spec ?? {}
  const isElsewhere = spec.nodeName && spec.nodeName !== node.metadata.name
  if (isElsewhere || !matchesNode(spec, node)) return { shouldRun: false, mayStay: false }
  const { taints } = node.spec ?? {}
  const tolerations = tolerationsOf(spec, profile)
  if (untoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined) return { shouldRun: true, mayStay: true }
  return { shouldRun: false, mayStay: untoleratedTaint(taints, tolerations, ['NoExecute']) === undefined }
}

/** Builds the pod of a node. The node affinity of the pod makes the scheduler bind it to that node. */
export async function podOfNode(
  set: ReadonlyDaemonSet,
  node: string,
  { hash, profile }: { readonly hash: string; readonly profile: NamingProfile },
): Promise<Pod> {
  const { namespace = '', annotations } = set.metadata
  const generation = annotations?.[generationAnnotation]
  const labels = { [revisionLabel]: hash, ...(generation === undefined ? {} : { [generationLabel]: generation }) }
  const pod = await podFromTemplate(set.spec?.template ?? {}, controllerReference(set, daemonSets), { namespace, labels })
  const spec = pod.spec ?? {}
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  const nodeAffinity = {
    ...spec.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
  }
  pod.spec = { ...spec, affinity: { ...spec.affinity, nodeAffinity }, tolerations: tolerationsOf(spec, profile) }
  return pod
}

/** Returns the node of a pod: the node it is bound to, or else the node that its affinity names. */
export function targetNode({ spec }: ReadonlyPod): string | undefined {
  if (spec?.nodeName) return spec.nodeName
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  for (const { matchFields = [] } of terms)
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In' && values.length === 1) return values[0]
  return undefined
}

/** Whether a pod was created from the current template. */
export function isUpdated(set: ReadonlyDaemonSet, { metadata }: ReadonlyPod, hash: string): boolean {
  const generation = set.metadata.annotations?.[generationAnnotation]
  const isCurrent = generation !== undefined && metadata.labels?.[generationLabel] === generation
  return isCurrent || metadata.labels?.[revisionLabel] === hash
}

/** Returns how many pods may exist in addition to one per node, and how many may be unavailable, during an update. */
export function updateLimits(set: ReadonlyDaemonSet, desired: number): { readonly surge: number; readonly unavailable: number } {
  const { type = 'RollingUpdate', rollingUpdate = {} } = set.spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { surge: 0, unavailable: 0 }
  const { maxSurge = 0, maxUnavailable = 1 } = rollingUpdate
  const surge = scaledValue(maxSurge, desired, { roundUp: true })
  const unavailable = scaledValue(maxUnavailable, desired, { roundUp: true })
  return surge === 0 && unavailable === 0 && desired > 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}

/** Orders pods of one node: bound ones first, then by age, then by name. */
export function byAge(a: ReadonlyPod, b: ReadonlyPod): number {
  const bound = (pod: ReadonlyPod) => (pod.spec?.nodeName ? 0 : 1)
  const [older, newer] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return bound(a) - bound(b) || older.localeCompare(newer) || (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '')
}
