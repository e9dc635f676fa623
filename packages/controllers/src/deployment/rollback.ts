import { mergeMaps, withoutMembers } from '../workloads/merge-maps.ts'
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
export async function rollBackTo(
  deployment: ReadonlyDeployment,
  sets: readonly ReadonlyReplicaSet[],
  to: bigint,
  annotationKeys: AnnotationKeys,
): Promise<Deployment> {
  const { metadata, spec } = deployment as Deployment
  const revision = to === 0n ? previousRevision(sets, annotationKeys) : to
  const target = revision === 0n ? undefined : sets.find((set) => revisionOf(set, annotationKeys) === revision)
  if (target === undefined || (await sameTemplate(target, deployment))) {
    const annotations = await withoutMembers(metadata.annotations, [annotationKeys.rollbackTo])
    return { ...deployment, metadata: { ...metadata, annotations } } as Deployment
  }
  const own = managedAnnotationKeys(annotationKeys)
  const kept = Object.fromEntries(
    own
      .filter((name) => name !== annotationKeys.rollbackTo)
      .flatMap((name) => {
        const text = metadata.annotations?.[name]
        return text === undefined ? [] : [[name, text]]
      }),
  )
  const annotations = await mergeMaps(kept, await withoutMembers(target.metadata.annotations, own))
  const template = await withoutHashLabel(target.spec?.template as Template)
  return { ...deployment, metadata: { ...metadata, annotations }, spec: { ...spec, template } } as Deployment
}

async function withoutHashLabel(template: Template): Promise<Template> {
  const { metadata } = template
  if (metadata?.labels === undefined) return template
  return { ...template, metadata: { ...metadata, labels: await withoutMembers(metadata.labels, [hashLabel]) } }
}

/** Returns the second newest revision; zero when it does not exist. */
function previousRevision(sets: readonly ReadonlyReplicaSet[], annotationKeys: AnnotationKeys): bigint {
  const revisions = sets.map((set) => revisionOf(set, annotationKeys)).sort((a, b) => (a < b ? 1 : -1))
  return revisions[1] ?? 0n
}
