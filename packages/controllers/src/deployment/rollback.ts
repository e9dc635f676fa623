import {
  type AnnotationKeys,
  type Deployment,
  hashLabel,
  managedAnnotationKeys,
  type ReadonlyDeployment,
  type ReadonlyReplicaSet,
  type Template,
} from './objects.ts'
import { readRevision, revisionOf, sameTemplate } from './replica-set-template.ts'

/** Returns the revision that the rollback annotation requests; zero means the previous one. */
export function requestedRollback({ metadata }: ReadonlyDeployment, { rollbackTo }: AnnotationKeys): bigint | undefined {
  const text = metadata.annotations?.[rollbackTo]
  return text === undefined ? undefined : readRevision(text)
}

/** Returns the deployment with the template and annotations of a revision, if it exists, and without the rollback annotation. */
export function rollBackTo(
  deployment: ReadonlyDeployment,
  sets: readonly ReadonlyReplicaSet[],
  to: bigint,
  annotationKeys: AnnotationKeys,
): Deployment {
  const next = structuredClone(deployment) as Deployment
  const annotations = { ...next.metadata.annotations }
  const revision = to === 0n ? previousRevision(sets, annotationKeys) : to
  const target = revision === 0n ? undefined : sets.find((set) => revisionOf(set, annotationKeys) === revision)
  if (target !== undefined && !sameTemplate(target, deployment)) {
    const template = structuredClone(target.spec?.template) as Template
    delete template.metadata?.labels?.[hashLabel]
    next.spec = { ...next.spec, template }
    const own = managedAnnotationKeys(annotationKeys)
    for (const name of Object.keys(annotations)) if (!own.includes(name)) delete annotations[name]
    for (const [name, text] of Object.entries(target.metadata.annotations ?? {}))
      if (!own.includes(name)) annotations[name] = text
  }
  delete annotations[annotationKeys.rollbackTo]
  next.metadata.annotations = annotations
  return next
}

/** Returns the second newest revision; zero when it does not exist. */
function previousRevision(sets: readonly ReadonlyReplicaSet[], annotationKeys: AnnotationKeys): bigint {
  const revisions = sets.map((set) => revisionOf(set, annotationKeys)).sort((a, b) => (a < b ? 1 : -1))
  return revisions[1] ?? 0n
}
