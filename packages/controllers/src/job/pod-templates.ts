import type { NamingProfile } from '@krmkit/meta'
import { controllerReference } from '../workloads/claims.ts'
import { deletionOrder } from '../workloads/deletion-order.ts'
import type { Container, Pod, PodSpec, ReadonlyPod } from '../workloads/objects.ts'
import { podFromTemplate } from '../workloads/pod-control.ts'
import { isTerminating } from '../workloads/pod-state.ts'
import { IndexSet } from './index-set.ts'
import { failureCounts, type JobState } from './job-state.ts'
import { completionIndex, hasLimitPerIndex, isIndexed, jobs, replacesOnlyFailed } from './objects.ts'
import { decideFailure } from './policies.ts'

/** Builds the pods that a job creates and selects the pods that it deletes. Pure functions. */

const indexVariable = 'JOB_COMPLETION_INDEX'
const maxPrefixLength = 58

/** Builds a pod of a job. @param index completion index of an indexed job */
export async function podOfJob(state: JobState, index: number | undefined): Promise<Pod> {
  const { job, keys } = state
  const { name = '', namespace = '' } = job.metadata
  const added = index === undefined ? {} : indexMetadata(state, index)
  const pod = await podFromTemplate(job.spec?.template ?? {}, controllerReference(job, jobs), { namespace, ...added })
  const { metadata, spec = {} } = pod
  if (!metadata.finalizers?.includes(keys.tracking)) metadata.finalizers = [...(metadata.finalizers ?? []), keys.tracking]
  if (index === undefined) return pod
  const suffix = `-${index}-`
  metadata.generateName = `${name.slice(0, maxPrefixLength - suffix.length)}${suffix}`
  return { ...pod, spec: { ...withIndexVariable(spec, keys.completionIndex), hostname: `${name}-${index}` } }
}

/** Returns the labels and annotations with the index of a pod, and with the failure counts of the pod that it replaces. */
function indexMetadata({ job, keys, awaitingReplacement }: JobState, index: number) {
  const labels = { [keys.completionIndex]: String(index) }
  if (!hasLimitPerIndex(job)) return { labels, annotations: labels }
  const replaced = awaitingReplacement.get(index)
  const before = replaced === undefined ? { counted: 0, ignored: 0 } : failureCounts(replaced, keys)
  const counts = replaced !== undefined && decideFailure(job, replaced).counts
  const ignored = before.ignored + (replaced !== undefined && !counts ? 1 : 0)
  const annotations = {
    ...labels,
    [keys.failureCount]: String(before.counted + (counts ? 1 : 0)),
    ...(ignored > 0 ? { [keys.ignoredFailureCount]: String(ignored) } : {}),
  }
  return { labels, annotations }
}

function withIndexVariable(spec: PodSpec, label: string): PodSpec {
  const { initContainers, containers } = spec
  const extended = (some: readonly Container[]) => some.map((container) => withVariable(container, label))
  return {
    ...spec,
    ...(initContainers === undefined ? {} : { initContainers: extended(initContainers) }),
    ...(containers === undefined ? {} : { containers: extended(containers) }),
  }
}

function withVariable(container: Container, label: string): Container {
  if (container.env?.some(({ name }) => name === indexVariable)) return container
  const valueFrom = { fieldRef: { fieldPath: `metadata.labels['${label}']` } }
  return { ...container, env: [...(container.env ?? []), { name: indexVariable, valueFrom }] }
}

/** Returns the first `count` indexes without an active pod that have neither succeeded nor failed. */
export function pendingIndexes(
  { job, keys, pods, activePods, succeededIndexes, failedIndexes }: JobState,
  count: number,
): number[] {
  const indexesOf = (some: readonly ReadonlyPod[]) => IndexSet.of(some.flatMap((pod) => completionIndex(pod, keys) ?? []))
  let taken = succeededIndexes.union(indexesOf(activePods))
  if (replacesOnlyFailed(job)) taken = taken.union(indexesOf(pods.filter(isUnfinishedTerminating)))
  if (failedIndexes !== undefined) taken = taken.union(failedIndexes)
  return taken.missing(count, job.spec?.completions ?? 0)
}

const isUnfinishedTerminating = (pod: ReadonlyPod): boolean =>
  isTerminating(pod) && pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded'

/**
 * Selects at least `count` active pods to delete, those that progressed least first. In an indexed job, all pods with a
 * duplicate or invalid index are selected.
 */
export function podsToDelete(
  { job, keys, activePods, nowMs }: JobState,
  count: number,
  profile: NamingProfile,
): readonly ReadonlyPod[] {
  const inOrder = (pods: readonly ReadonlyPod[]) => deletionOrder(pods, { nowMs, profile, isExact: true })
  const chosen: ReadonlyPod[] = []
  let others: readonly ReadonlyPod[] = activePods
  if (isIndexed(job)) {
    const kept: ReadonlyPod[] = []
    const byIndex = new Map<number | undefined, ReadonlyPod[]>()
    for (const pod of activePods) {
      const index = completionIndex(pod, keys)
      byIndex.set(index, [...(byIndex.get(index) ?? []), pod])
    }
    for (const [index, pods] of byIndex) {
      const isValid = index !== undefined && index < (job.spec?.completions ?? 0)
      const ordered = inOrder(pods)
      const last = isValid ? ordered.pop() : undefined
      chosen.push(...ordered)
      if (last !== undefined) kept.push(last)
    }
    others = kept
  }
  return chosen.length >= count ? chosen : [...chosen, ...inOrder(others).slice(0, count - chosen.length)]
}
