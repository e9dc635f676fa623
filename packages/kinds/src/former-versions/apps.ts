import type { FormerKind } from './interfaces.ts'
import { annotationOf, defaults, isLoose, isUnset, type Loose, type Step, withAnnotation, without } from './shape.ts'

/**
 * Workloads before `apps/v1`: selectors that are not set equal the labels of the template, updates are less eager, and members that
 * `apps/v1` has no longer are kept in annotations.
 */

/** The labels of the template are the default of the selector, which `apps/v1` requires, and of the labels of the object. */
const labelsOfTemplate: Step = {
  at: '',
  isDefaulting: true,
  toHub: (object) => {
    const { metadata = {}, spec } = object
    if (!isLoose(metadata) || !isLoose(spec) || !isLoose(spec['template']) || !isLoose(spec['template']['metadata']))
      return object
    const { labels } = spec['template']['metadata']
    if (!isLoose(labels)) return object
    return {
      ...object,
      metadata: Object.keys(metadata['labels'] ?? {}).length === 0 ? { ...metadata, labels } : metadata,
      spec: isUnset(spec['selector']) ? { ...spec, selector: { matchLabels: labels } } : spec,
    }
  },
}

/** An integer that an annotation keeps in the hub. */
function annotated(
  member: string,
  read: (spec: Loose) => unknown,
  write: (value: number | bigint) => Loose,
  annotation: string,
): Step {
  return {
    at: '',
    toHub: (object) => {
      const { spec } = object
      const value = isLoose(spec) ? read(spec) : undefined
      // Other values are mistakes, which stay for validation to find.
      if (!isLoose(spec) || (typeof value !== 'number' && typeof value !== 'bigint')) return object
      return withAnnotation({ ...object, spec: without(spec, member) }, annotation, String(value))
    },
    fromHub: (object) => {
      const text = annotationOf(object, annotation)
      const { spec } = object
      if (text === undefined || !/^-?\d{1,19}$/.test(text) || !isLoose(spec)) return object
      const value = Number(text)
      return withAnnotation(
        { ...object, spec: { ...spec, ...write(Number.isSafeInteger(value) ? value : BigInt(text)) } },
        annotation,
        undefined,
      )
    },
  }
}

const rollback = annotated(
  'rollbackTo',
  ({ rollbackTo }) => (isLoose(rollbackTo) ? (rollbackTo['revision'] ?? 0) : undefined),
  (revision) => ({ rollbackTo: { revision } }),
  'deprecated.deployment.rollback.to',
)

const generation = annotated(
  'templateGeneration',
  ({ templateGeneration }) => templateGeneration,
  (templateGeneration) => ({ templateGeneration }),
  'deprecated.daemonset.template.generation',
)

/** The greatest int32, which stood for "no limit". */
const unlimited = 2_147_483_647
const rollingUpdate = (maxSurge: unknown, maxUnavailable: unknown): Step => ({
  at: 'spec',
  isDefaulting: true,
  toHub: (spec) => {
    const strategy = isLoose(spec['strategy']) ? spec['strategy'] : {}
    if (!isUnset(strategy['type']) && strategy['type'] !== 'RollingUpdate') return spec
    const given = isLoose(strategy['rollingUpdate']) ? strategy['rollingUpdate'] : {}
    return { ...spec, strategy: { ...strategy, type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable, ...given } } }
  },
})

const extensionsDeployment = [
  labelsOfTemplate,
  rollback,
  rollingUpdate(1, 1),
  defaults(
    'spec',
    { progressDeadlineSeconds: unlimited, revisionHistoryLimit: unlimited },
    { progressDeadlineSeconds: 600, revisionHistoryLimit: 10 },
  ),
]
const betaDeployment = [labelsOfTemplate, rollback, defaults('spec', { revisionHistoryLimit: 2 }, { revisionHistoryLimit: 10 })]
const onDelete = defaults('spec', { updateStrategy: { type: 'OnDelete' } }, { updateStrategy: { type: 'RollingUpdate' } })

const group = 'apps'
const later = { v1beta2: [] }

export const apps: readonly FormerKind[] = [
  { group, kind: 'ControllerRevision', hub: 'v1', versions: { v1beta1: [], ...later } },
  {
    group,
    kind: 'DaemonSet',
    hub: 'v1',
    versions: { 'extensions/v1beta1': [labelsOfTemplate, generation, onDelete], ...later },
  },
  {
    group,
    kind: 'Deployment',
    hub: 'v1',
    versions: { 'extensions/v1beta1': extensionsDeployment, v1beta1: betaDeployment, ...later },
  },
  { group, kind: 'ReplicaSet', hub: 'v1', versions: { 'extensions/v1beta1': [labelsOfTemplate], ...later } },
  { group, kind: 'StatefulSet', hub: 'v1', versions: { v1beta1: [labelsOfTemplate, onDelete], ...later } },
]
