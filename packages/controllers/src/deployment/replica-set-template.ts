import { isLargeValue } from '@krmkit/base/work'
import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import { inSlices } from '../framework/in-slices.ts'
import { canonicalText, sameCanonically } from '../workloads/canonical-text.direct.ts'
import * as paced from '../workloads/canonical-text.ts'
import { mergeMaps, withoutMembers } from '../workloads/merge-maps.ts'
import { shortHash } from '../workloads/short-hash.ts'
import {
  type AnnotationKeys,
  desiredReplicas,
  fenceposts,
  hashLabel,
  managedAnnotationKeys,
  type ReadonlyDeployment,
  type ReadonlyReplicaSet,
  type ReplicaSet,
  type Template,
} from './objects.ts'

/** Builds the replica sets of a deployment: template, name and annotations. */

/** Returns the oldest set with the template of the deployment. */
export async function findNewSet(
  deployment: ReadonlyDeployment,
  sets: readonly ReadonlyReplicaSet[],
): Promise<ReadonlyReplicaSet | undefined> {
  for (const set of sets) if (await sameTemplate(set, deployment)) return set
  return undefined
}

/** Whether two objects have the same template, apart from the hash label. */
export async function sameTemplate({ spec: a }: Templated, { spec: b }: Templated): Promise<boolean> {
  const [before, after] = [a?.template ?? {}, b?.template ?? {}]
  const omitted = [hashOf(before), hashOf(after)].filter((omission) => omission !== undefined)
  if (!isLargeValue(before) && !isLargeValue(after)) return sameCanonically(before, after, omitted)
  return inSlices(paced.sameCanonically(before, after, omitted))
}

type Templated = ReadonlyDeployment | ReadonlyReplicaSet
type ReadonlyTemplate = DeepReadonly<Template>

/** The hash label of a template, which the controller adds to the template of the user. */
function hashOf(template: ReadonlyTemplate | undefined): paced.Omission | undefined {
  const labels = template?.metadata?.labels
  return labels?.[hashLabel] === undefined ? undefined : { of: labels, name: hashLabel }
}

/**
 * Returns a short hash of a template. Another `collisions` value gives another hash, for the case that a different template
 * already has the name.
 */
export async function templateHash(template: ReadonlyTemplate | undefined, collisions = 0): Promise<string> {
  const hash = hashOf(template)
  const text = isLargeValue(template) ? await inSlices(paced.canonicalText(template, hash)) : canonicalText(template ?? {}, hash)
  return shortHash(text, collisions)
}

/** Builds the replica set of the template of a deployment, with zero replicas. */
export async function buildReplicaSet(
  deployment: ReadonlyDeployment,
  annotationKeys: AnnotationKeys,
  revision: bigint,
): Promise<ReplicaSet> {
  const { name = '', namespace = '', uid = '' } = deployment.metadata
  const hash = await templateHash(deployment.spec?.template, deployment.status?.collisionCount)
  // Shared with the deployment and never mutated; a copy of a large template would take long.
  const template = (deployment.spec?.template ?? {}) as Template
  const labels = await mergeMaps(template.metadata?.labels, { [hashLabel]: hash })
  const selector = (deployment.spec?.selector ?? {}) as { matchLabels?: Record<string, string> }
  const owner: OwnerReference = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: `${name}-${hash}`, namespace, labels, ownerReferences: [owner] },
    spec: {
      replicas: 0,
      ...(deployment.spec?.minReadySeconds === undefined ? {} : { minReadySeconds: deployment.spec.minReadySeconds }),
      selector: { ...selector, matchLabels: await mergeMaps(selector.matchLabels, { [hashLabel]: hash }) },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
  set.metadata.annotations = await mergeMaps(
    await withRevision(deployment, set, annotationKeys, revision),
    replicaAnnotations(deployment, annotationKeys),
  )
  return set
}

/** Returns the annotations of a set at a revision: the annotations of the deployment and the revision annotations. */
export async function withRevision(
  deployment: ReadonlyDeployment,
  set: ReadonlyReplicaSet,
  annotationKeys: AnnotationKeys,
  revision: bigint,
): Promise<Record<string, string>> {
  const copied = await withoutMembers(deployment.metadata.annotations, managedAnnotationKeys(annotationKeys))
  return mergeMaps(set.metadata.annotations, copied, revisionAnnotations(set, annotationKeys, revision))
}

/** Returns the annotations to change when a set gets a revision. */
function revisionAnnotations(
  { metadata: { annotations } }: ReadonlyReplicaSet,
  annotationKeys: AnnotationKeys,
  revision: bigint,
): Record<string, string> {
  const before = readRevision(annotations?.[annotationKeys.revision])
  if (before >= revision) return {}
  const next = { [annotationKeys.revision]: String(revision) }
  if (before <= 0) return next
  return { [annotationKeys.history]: [...(annotations?.[annotationKeys.history]?.split(',') ?? []), before].join(), ...next }
}

export function replicaAnnotations(deployment: ReadonlyDeployment, annotationKeys: AnnotationKeys): Record<string, string> {
  const wanted = desiredReplicas(deployment)
  return { [annotationKeys.desired]: String(wanted), [annotationKeys.max]: String(wanted + fenceposts(deployment).surge) }
}

export function revisionOf({ metadata }: ReadonlyDeployment | ReadonlyReplicaSet, annotationKeys: AnnotationKeys): bigint {
  return readRevision(metadata.annotations?.[annotationKeys.revision])
}

/** Returns the highest revision; zero without sets. */
export function newestRevision(sets: readonly ReadonlyReplicaSet[], annotationKeys: AnnotationKeys): bigint {
  let newest = 0n
  for (const set of sets) {
    const revision = revisionOf(set, annotationKeys)
    if (revision > newest) newest = revision
  }
  return newest
}

/** Parses a revision, a 64-bit number. Invalid text is zero. */
export function readRevision(text: string | undefined): bigint {
  return /^[+-]?\d{1,19}$/.test(text ?? '') ? BigInt((text ?? '').replace(/^\+/, '')) : 0n
}
