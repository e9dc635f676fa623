import { type D, type Deployment, hashLabel, type Marks, ownMarks, type R, type Template } from './objects.ts'
import { readRevision, revisionOf, templateText } from './replica-set-form.ts'

/** The revision that somebody asks to go back to, by an annotation; zero means the one before the newest. */
export function rollbackOf({ metadata }: D, { rollbackTo }: Marks): bigint | undefined {
  const text = metadata.annotations?.[rollbackTo]
  return text === undefined ? undefined : readRevision(text)
}

/** The deployment with the template and the annotations of that revision, where there is one, and no longer asking for it. */
export function rolledBack(deployment: D, sets: readonly R[], to: bigint, marks: Marks): Deployment {
  const next = structuredClone(deployment) as Deployment
  const annotations = { ...next.metadata.annotations }
  const revision = to === 0n ? lastRevision(sets, marks) : to
  const goal = revision === 0n ? undefined : sets.find((set) => revisionOf(set, marks) === revision)
  if (goal !== undefined && templateText(goal.spec?.template) !== templateText(deployment.spec?.template)) {
    const template = structuredClone(goal.spec?.template) as Template
    delete template.metadata?.labels?.[hashLabel]
    next.spec = { ...next.spec, template }
    const own = ownMarks(marks)
    for (const name of Object.keys(annotations)) if (!own.includes(name)) delete annotations[name]
    for (const [name, text] of Object.entries(goal.metadata.annotations ?? {})) if (!own.includes(name)) annotations[name] = text
  }
  delete annotations[marks.rollbackTo]
  next.metadata.annotations = annotations
  return next
}

/** The newest but one; zero when there are not two. */
function lastRevision(sets: readonly R[], marks: Marks): bigint {
  const revisions = sets.map((set) => revisionOf(set, marks)).sort((a, b) => (a < b ? 1 : -1))
  return revisions[1] ?? 0n
}
