import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import { canonicalText, sameCanonically, shortHash } from '../workloads/canonical-text.ts'
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
export function findNewSet(deployment: ReadonlyDeployment, sets: readonly ReadonlyReplicaSet[]): ReadonlyReplicaSet | undefined {
  return sets.find((set) => sameTemplate(set, deployment))
}

/** Whether two objects have the same template, apart from the hash label. */
export function sameTemplate(a: Templated, b: Templated): boolean {
  return sameCanonically(withoutHash(a.spec?.template), withoutHash(b.spec?.template))
}

type Templated = ReadonlyDeployment | ReadonlyReplicaSet
type ReadonlyTemplate = DeepReadonly<Template>

function withoutHash(template: ReadonlyTemplate | undefined): ReadonlyTemplate {
  const { [hashLabel]: hash, ...labels } = template?.metadata?.labels ?? {}
  return hash === undefined ? (template ?? {}) : { ...template, metadata: { ...template?.metadata, labels } }
}

/** Returns a short hash of a template. `collisions` yields another hash for the same template when a name is taken. */
export function templateHash(template: ReadonlyTemplate | undefined, collisions = 0): string {
  return shortHash(canonicalText(withoutHash(template)), collisions)
}

/** Builds the replica set of the template of a deployment, with zero replicas. */
export function buildReplicaSet(deployment: ReadonlyDeployment, annotationKeys: AnnotationKeys, revision: bigint): ReplicaSet {
  const { name = '', namespace = '', uid = '' } = deployment.metadata
  const hash = templateHash(deployment.spec?.template, deployment.status?.collisionCount)
  // Shared with the deployment, which nothing here changes: a copy of a large template takes long.
  const template = (deployment.spec?.template ?? {}) as Template
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
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
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
  set.metadata.annotations = {
    ...withRevision(deployment, set, annotationKeys, revision),
    ...replicaAnnotations(deployment, annotationKeys),
  }
  return set
}

/** Returns the annotations of a set at a revision: those of the deployment and the revision annotations. */
export function withRevision(
  deployment: ReadonlyDeployment,
  set: ReadonlyReplicaSet,
  annotationKeys: AnnotationKeys,
  revision: bigint,
): Record<string, string> {
  const own = managedAnnotationKeys(annotationKeys)
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !own.includes(name))
  const annotations = { ...set.metadata.annotations, ...Object.fromEntries(copied) }
  const before = readRevision(annotations[annotationKeys.revision])
  if (before >= revision) return annotations
  if (before > 0)
    annotations[annotationKeys.history] = [...(annotations[annotationKeys.history]?.split(',') ?? []), before].join()
  return { ...annotations, [annotationKeys.revision]: String(revision) }
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
