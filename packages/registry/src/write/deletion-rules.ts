import type { Pace } from '@krmkit/base/work'
import type { ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import {
  ApiError,
  type ApiObject,
  type Features,
  field,
  formatTime,
  type NamingProfile,
  Path,
  parseTime,
  stockProfile,
} from '@krmkit/meta'
import type { DeleteRequestOptions, FrozenObject, WriteContext } from '../interfaces.ts'
import { mutableCopy } from '../versions/canonical-form.ts'
import { copyMetadata } from './metadata.ts'
import { validateDryRun } from './write-entry.ts'

/** The rules of deletions: options, preconditions, finalizers and grace periods. @see API protocol specification, 3 */

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/**
 * Validates the options of a DELETE request.
 *
 * @throws ApiError 422 for contradictory options and unknown values.
 * @example
 * import { validateDeleteOptions } from '@krmkit/registry'
 * validateDeleteOptions({ propagationPolicy: 'Background' }) // undefined
 * validateDeleteOptions({ propagationPolicy: 'Background', orphanDependents: true }) // throws
 */
export function validateDeleteOptions(
  options: DeleteRequestOptions,
  { profile: { apiDomain } = stockProfile, features }: { readonly profile?: NamingProfile; readonly features?: Features } = {},
): void {
  const errors = []
  const { propagationPolicy, orphanDependents, dryRun } = options
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push(
      field.invalid(
        Path.of('propagationPolicy'),
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    errors.push(
      field.notSupported(Path.of('propagationPolicy'), propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    )
  }
  errors.push(...validateDryRun(dryRun ?? []))
  if (errors.length > 0) throw ApiError.invalid({ group: `meta.${apiDomain}`, kind: 'DeleteOptions' }, '', errors, features)
}

/** Whether finalizers or a grace period keep a terminating object. */
export function isHeld({ strategy }: ResourceDefinition, { metadata }: FrozenObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata
  return strategy.pendingFinalizers !== undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0
}

/** Warns when a deletion, even of a missing object, relies on the default propagation of a kind that has an unusual one. */
export function warnOfPropagation(
  { strategy: { defaultPropagationWarning } }: ResourceDefinition,
  { propagationPolicy, orphanDependents }: DeleteRequestOptions,
  { warn }: Pick<WriteContext, 'warn'>,
): void {
  if (defaultPropagationWarning === undefined || propagationPolicy !== undefined || orphanDependents !== undefined) return
  warn(defaultPropagationWarning)
}

/**
 * Checks the preconditions of a deletion against an object.
 *
 * @throws ApiError 409 when it has another uid or resourceVersion.
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { checkPreconditions } from '@krmkit/registry'
 * const configMaps = createCatalog().resource({ group: '', version: 'v1', resource: 'configmaps' })!
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', uid: '9c1e' } }
 * checkPreconditions(configMaps, object, { uid: '9c1e' }) // undefined; another uid would throw
 */
export function checkPreconditions(
  { kind, resource, storage, strategy }: ResourceDefinition,
  { metadata }: FrozenObject,
  { uid, resourceVersion }: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } = {},
): void {
  const check = (what: 'UID' | 'ResourceVersion', expected: string | undefined, actual: string | undefined) => {
    if (expected === undefined || expected === actual) return
    const name = metadata.name ?? ''
    if (strategy.beginDeletion !== undefined) {
      const problem = `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${actual}`
      throw ApiError.conflict({ group: kind.group, resource: resource.name }, name, problem)
    }
    const happened = what === 'UID' ? 'been deleted and then recreated' : 'been modified'
    const problem = `the ${what} in the precondition (${expected}) does not match the ${what} in record (${actual}). The object might have ${happened}`
    // kube-apiserver names the kind here, with the storage group; all other conflicts name the resource.
    throw ApiError.conflict({ group: storage.group, resource: kind.kind }, name, problem)
  }
  check('UID', uid, metadata.uid)
  check('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

/**
 * The outcome of a DELETE for the current object: the object marked as terminating, `now` when it can be removed at once, or `pending` when
 * an earlier DELETE has marked it and nothing changes.
 */
export async function terminated(
  definition: ResourceDefinition,
  current: FrozenObject,
  { options, context, pace }: { readonly options: DeleteRequestOptions; readonly context: StrategyContext; readonly pace: Pace },
): Promise<ApiObject | 'now' | 'pending'> {
  const { strategy } = definition
  if (strategy.beginDeletion !== undefined && current.metadata.deletionTimestamp === undefined)
    return markedByStrategy(definition, await mutableCopy(current, pace), options, context)
  if ((strategy.pendingFinalizers?.(current) ?? []).length > 0) return 'pending'
  return terminatingObject(definition, current, options, context.clock.now())
}

function markedByStrategy(
  { strategy }: ResourceDefinition,
  draft: FrozenObject,
  options: DeleteRequestOptions,
  context: StrategyContext,
): ApiObject {
  const next = draft as ApiObject
  next.metadata.deletionTimestamp = formatTime(context.clock.now())
  strategy.beginDeletion?.(next, context)
  if (strategy.pendingFinalizers !== undefined) chooseDependents(next, options)
  return next
}

/**
 * Sets the finalizers of garbage collection on an object of a kind with `pendingFinalizers`. Here `orphanDependents: false` means
 * foreground deletion.
 */
function chooseDependents({ metadata }: ApiObject, { orphanDependents, propagationPolicy }: DeleteRequestOptions): void {
  if (orphanDependents === undefined && propagationPolicy === undefined) return
  const orphans = orphanDependents ?? propagationPolicy === 'Orphan'
  const waits = orphanDependents === undefined ? propagationPolicy === 'Foreground' : !orphanDependents
  const present = metadata.finalizers ?? []
  const wanted = [...(orphans ? [orphanFinalizer] : []), ...(waits ? [foregroundFinalizer] : [])]
  const others = present.filter((each) => each !== orphanFinalizer && each !== foregroundFinalizer)
  const next = [...others, ...wanted]
  if (sameList(next, present)) return
  if (next.length > 0) metadata.finalizers = next
  else delete metadata.finalizers
}

/** The outcome of a DELETE for kinds without their own rules, by grace period and finalizers. */
function terminatingObject(
  definition: ResourceDefinition,
  current: FrozenObject,
  options: DeleteRequestOptions,
  now: number,
): ApiObject | 'now' | 'pending' {
  const { metadata } = current
  const requested =
    options.gracePeriodSeconds === undefined ? undefined : options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds
  const graceful = definition.strategy.gracePeriodSeconds !== undefined
  const finalizers = deletionFinalizers(definition, current, options)
  const marked = (change: Partial<ApiObject['metadata']>): ApiObject => {
    const next = copyMetadata(current as ApiObject)
    Object.assign(next.metadata, change)
    if (finalizers.length > 0) next.metadata.finalizers = finalizers
    else delete next.metadata.finalizers
    return next
  }
  const { deletionGracePeriodSeconds: old = 0 } = metadata
  if (graceful && metadata.deletionTimestamp !== undefined && old > 0) {
    if (requested === undefined || requested >= old) return 'pending'
    const moved = parseTime(metadata.deletionTimestamp) + (requested - old) * 1000
    // A shortened grace period that has already ended becomes one second, or zero where the request asks for zero.
    const isOver = moved < now
    return marked({
      deletionTimestamp: formatTime(isOver ? now : moved),
      deletionGracePeriodSeconds: isOver && requested > 0 ? 1 : requested,
    })
  }
  // A kind with grace periods is marked even when its grace period is zero seconds: watchers see the mark and then the removal.
  if (metadata.deletionTimestamp === undefined && definition.strategy.gracePeriodSeconds !== undefined) {
    const seconds = definition.strategy.gracePeriodSeconds(current, requested)
    return marked({
      deletionTimestamp: formatTime(now + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
      ...raisedGeneration(current),
    })
  }
  if (finalizers.length === 0) return 'now'
  return marked({
    deletionTimestamp: metadata.deletionTimestamp ?? formatTime(now),
    deletionGracePeriodSeconds: 0,
    ...(metadata.deletionTimestamp === undefined ? raisedGeneration(current) : {}),
  })
}

function raisedGeneration(current: FrozenObject): { generation?: number } {
  const { generation } = current.metadata
  return generation === undefined || generation === 0 ? {} : { generation: generation + 1 }
}

/** The finalizers of the object after adding or removing the finalizers of garbage collection, by propagation policy. */
function deletionFinalizers(definition: ResourceDefinition, current: FrozenObject, options: DeleteRequestOptions): string[] {
  const present = current.metadata.finalizers ?? []
  const others = present.filter((f) => f !== orphanFinalizer && f !== foregroundFinalizer)
  const { defaultPropagation = 'Background' } = definition.strategy
  if (defaultPropagation === 'Unsupported') return others
  const { orphanDependents, propagationPolicy } = options
  const requested = orphanDependents !== undefined ? (orphanDependents ? 'Orphan' : 'Background') : propagationPolicy
  const policy =
    requested ??
    (present.includes(orphanFinalizer) ? 'Orphan' : present.includes(foregroundFinalizer) ? 'Foreground' : defaultPropagation)
  const next =
    policy === 'Orphan' ? [...others, orphanFinalizer] : policy === 'Foreground' ? [...others, foregroundFinalizer] : others
  return sameList(next, present) ? [...present] : next
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  const items = new Set(b)
  return a.length === b.length && a.every((item) => items.has(item))
}
