import {
  type AnnotationKeys,
  type Deployment,
  hashLabel,
  managedAnnotationKeys,
  type ReadonlyDeployment,
  type ReadonlyReplicaSet,
  type Template,
} from './objects.ts'
import { readRevision, revisionOf, templateText } from './replica-set-template.ts'

/** The revision that somebody asks to go back to, by an annotation; zero means the one before the newest. */
export function requestedRollback({ metadata }: ReadonlyDeployment, { rollbackTo }: AnnotationKeys): bigint | undefined {
  const text = metadata.annotations?.[rollbackTo]
  return text === undefined ? undefined : readRevision(text)
}

/** The deployment with the template and the annotations of that revision, where there is one, and no longer asking for it. */
export function rollBackTo(
  deployment: ReadonlyDeployment,
  sets: readonly ReadonlyReplicaSet[],
  to: bigint,
  annotationKeys: AnnotationKeys,
): Deployment {
  const next = structuredClone(deployment) as Deployment
  const annotations = { ...next.metadata.annotations }
  const revision = to === 0n ? lastRevision(sets, annotationKeys) : to
  const goal = revision === 0n ? undefined : sets.find((set) => revisionOf(set, annotationKeys) === revision)
  if (goal !== undefined && templateText(goal.spec?.template) !== templateText(deployment.spec?.template)) {
    const template = structuredClone(goal.spec?.template) as Template
    delete template.metadata?.labels?.[hashLabel]
    next.spec = { ...next.spec, template }
    const own = managedAnnotationKeys(annotationKeys)
    for (const name of Object.keys(annotations)) if (!own.includes(name)) delete annotations[name]
    for (const [name, text] of Object.entries(goal.metadata.annotations ?? {})) if (!own.includes(name)) annotations[name] = text
  }
  delete annotations[annotationKeys.rollbackTo]
  next.metadata.annotations = annotations
  return next
}

/** The newest but one; zero when there are not two. */
function lastRevision(sets: readonly ReadonlyReplicaSet[], annotationKeys: AnnotationKeys): bigint {
  const revisions = sets.map((set) => revisionOf(set, annotationKeys)).sort((a, b) => (a < b ? 1 : -1))
  return revisions[1] ?? 0n
}
