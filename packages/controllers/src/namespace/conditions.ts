import { formatTime } from '@krmkit/meta'

export interface NamespaceCondition {
  type: string
  status: string
  lastTransitionTime?: string
  reason?: string
  message?: string
}

/** What prevents the deletion of a namespace; each field corresponds to one condition. */
export interface DeletionObstacles {
  /** Groups that could not be discovered. */
  readonly discovery: readonly string[]
  /** API versions that cannot be parsed. */
  readonly parsing: readonly string[]
  /** Resources whose objects could not be deleted, with the reason. */
  readonly deletion: readonly string[]
  /** Number of remaining objects by resource. */
  readonly remaining: readonly Remaining[]
  /** Number of objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

export interface Remaining {
  readonly resource: { readonly group: string; readonly resource: string }
  readonly count: number
}

interface ConditionKind {
  readonly type: string
  readonly bad: string
  readonly good: string
  readonly fine: string
  /** Returns the message of the condition, or undefined when the obstacle does not exist. */
  describe(obstacles: DeletionObstacles): string | undefined
}

const kinds: readonly ConditionKind[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    bad: 'DiscoveryFailed',
    good: 'ResourcesDiscovered',
    fine: 'All resources successfully discovered',
    describe: ({ discovery }) => listed(discovery, `Discovery failed for some groups, ${discovery.length} failing`),
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    bad: 'GroupVersionParsingFailed',
    good: 'ParsedGroupVersions',
    fine: 'All legacy kube types successfully parsed',
    describe: ({ parsing }) => (parsing.length === 0 ? undefined : parsing.join(', ')),
  },
  {
    type: 'NamespaceDeletionContentFailure',
    bad: 'ContentDeletionFailed',
    good: 'ContentDeleted',
    fine: 'All content successfully deleted, may be waiting on finalization',
    describe: ({ deletion }) => listed(deletion, `Failed to delete all resource types, ${deletion.length} remaining`),
  },
  {
    type: 'NamespaceContentRemaining',
    bad: 'SomeResourcesRemain',
    good: 'ContentRemoved',
    fine: 'All content successfully removed',
    describe: ({ remaining }) =>
      listed(
        remaining.map(({ resource, count }) => `${resource.resource}.${resource.group} has ${count} resource instances`),
        'Some resources are remaining',
      ),
  },
  {
    type: 'NamespaceFinalizersRemaining',
    bad: 'SomeFinalizersRemain',
    good: 'ContentHasNoFinalizers',
    fine: 'All content-preserving finalizers finished',
    describe: ({ finalizers }) =>
      listed(
        [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`),
        'Some content in the namespace has finalizers remaining',
      ),
  },
]

/** Updates the deletion conditions. Returns the same array when nothing changed; keeps conditions of other types. */
export function namespaceConditions(
  before: readonly NamespaceCondition[],
  obstacles: DeletionObstacles,
  nowMs: number,
): readonly NamespaceCondition[] {
  const after = [...before]
  let changed = false
  for (const { type, bad, good, fine, describe } of kinds) {
    const trouble = describe(obstacles)
    const wanted =
      trouble === undefined ? { status: 'False', reason: good, message: fine } : { status: 'True', reason: bad, message: trouble }
    const at = after.findIndex((condition) => condition.type === type)
    const old = after[at]
    if (old?.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message) continue
    const lastTransitionTime = old?.status === wanted.status ? old.lastTransitionTime : undefined
    const made = { type, ...wanted, lastTransitionTime: lastTransitionTime ?? formatTime(nowMs) }
    if (at < 0) after.push(made)
    else after[at] = made
    changed = true
  }
  return changed ? after : before
}

/** Returns `pods` or `deployments.apps`. */
export function resourceName({ group, resource }: Remaining['resource']): string {
  return group === '' ? resource : `${resource}.${group}`
}

function listed(items: readonly string[], intro: string): string | undefined {
  return items.length === 0 ? undefined : `${intro}: ${[...items].sort().join(', ')}`
}
