import type { OwnerReference } from '@krmkit/meta'
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

/** What the replica sets of a deployment enqueue like: their template, their name, and what they remember. */

/** The set whose template is that of the deployment; the oldest, should there be several. */
export function findNewSet(deployment: ReadonlyDeployment, sets: readonly ReadonlyReplicaSet[]): ReadonlyReplicaSet | undefined {
  const wanted = templateText(deployment.spec?.template)
  return sets.find(({ spec }) => templateText(spec?.template) === wanted)
}

/** Two templates are equal when their texts are; the label that tells sets apart does not count. */
export function templateText(template: Template | ReadonlyReplicaSet | object | undefined): string {
  const plain = structuredClone(template ?? {}) as Template
  if (plain.metadata?.labels !== undefined) delete plain.metadata.labels[hashLabel]
  return sortedText(plain)
}

function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => !isEmptyMember(member))
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${sortedText(member)}`)
    .join()}}`
}

/** What is absent in one place may be null or empty in another. */
function isEmptyMember(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * A short name for a template, as safe in names as the stock server's, though another one. `collisions` makes another of the
 * same template, when the first was taken.
 */
export function templateHash(template: Template | undefined, collisions = 0): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(`${templateText(template)}${collisions === 0 ? '' : collisions}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return [...String(hash)].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}

/** A set of no replicas yet for the deployment's template. */
export function buildReplicaSet(deployment: ReadonlyDeployment, annotationKeys: AnnotationKeys, revision: bigint): ReplicaSet {
  const { name = '', namespace = '', uid = '' } = deployment.metadata
  const hash = templateHash(deployment.spec?.template as Template | undefined, deployment.status?.collisionCount)
  const template = structuredClone(deployment.spec?.template ?? {}) as Template
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
  const selector = structuredClone(deployment.spec?.selector ?? {}) as { matchLabels?: Record<string, string> }
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

/** Annotations of a set that belongs to this revision: those of the deployment, and how the set is counted. */
export function withRevision(
  deployment: ReadonlyDeployment,
  set: ReadonlyReplicaSet,
  annotationKeys: AnnotationKeys,
  revision: bigint,
): Record<string, string> {
  const own = managedAnnotationKeys(annotationKeys)
  const passed = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !own.includes(name))
  const annotations = { ...set.metadata.annotations, ...Object.fromEntries(passed) }
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

/** Zero for no sets. */
export function newestRevision(sets: readonly ReadonlyReplicaSet[], annotationKeys: AnnotationKeys): bigint {
  let newest = 0n
  for (const set of sets) {
    const revision = revisionOf(set, annotationKeys)
    if (revision > newest) newest = revision
  }
  return newest
}

/** Revisions are 64-bit numbers, more than a double holds. What is no number counts as none. */
export function readRevision(text: string | undefined): bigint {
  return /^[+-]?\d{1,19}$/.test(text ?? '') ? BigInt((text ?? '').replace(/^\+/, '')) : 0n
}
