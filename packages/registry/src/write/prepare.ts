import type { Preparation, StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError, parseApiVersion } from '@krmkit/meta'
import { startWork, type Work } from '@krmkit/meta/work'
import type { FrozenObject } from '../interfaces.ts'
import { type StoreInternals, storedKind } from '../internals.ts'
import type { Grants } from './allocations.ts'
import type { Stages } from './stages.ts'

/** A write between mutating and validating admission. */
export interface PendingWrite {
  readonly object: ApiObject
  /** The stored object; `undefined` for a creation. */
  readonly old: FrozenObject | undefined
  /** Name in error messages. Some kinds choose a name when they prepare the object. */
  name(): string
  readonly about: StrategyContext
  readonly stages: Stages
  /** Values that no two objects may share. Absent for kinds without such values, and for writes of subresources. */
  readonly grants: Grants | undefined
  /** Sets metadata and what clients may not choose, in steps where the kind does so. Mutates the object. */
  prepare(): Preparation
  /** Completes the valid object, with pauses. Mutates the object. `undefined`: the kind completes nothing. */
  canonicalize(): Work | undefined
  /** Objects that take longer than a slice are validated in several. */
  validate(): Work<readonly FieldError[]>
}

/**
 * Prepares an object, assigns its shared values and validates it.
 *
 * @returns a promise where there is something to wait for; most small objects are ready when the function returns.
 * @throws ApiError 422
 */
export function prepareAndValidate(store: StoreInternals, preparation: PendingWrite): Promise<void> | undefined {
  const preparing = preparation.prepare()
  const running = preparing === undefined ? undefined : run(store, preparation, preparing)
  return running instanceof Promise ? running.then(() => allocated(store, preparation)) : allocated(store, preparation)
}

/** Runs a stage: in new slices for large objects, and at once for others, unless it takes longer than a slice. */
function run<T>(store: StoreInternals, { stages }: PendingWrite, work: Work<T>): T | Promise<T> {
  return stages === undefined ? startWork(work, store.turns) : stages.run(work)
}

function allocated(store: StoreInternals, preparation: PendingWrite): Promise<void> | undefined {
  const { object, old, about, grants } = preparation
  if (grants === undefined) return validated(store, preparation)
  return grants.allocate(object, old, about).then((errors) => {
    refuse(store, preparation, errors)
    return validated(store, preparation)
  })
}

function validated(store: StoreInternals, preparation: PendingWrite): Promise<void> | undefined {
  const { object, old } = preparation
  const loading = store.definition.strategy.ready?.(object, old)
  return loading === undefined ? loaded(store, preparation) : loading.then(() => loaded(store, preparation))
}

function loaded(store: StoreInternals, preparation: PendingWrite): Promise<void> | undefined {
  const errors = run(store, preparation, preparation.validate())
  return errors instanceof Promise
    ? errors.then((found) => completed(store, preparation, found))
    : completed(store, preparation, errors)
}

function completed(store: StoreInternals, preparation: PendingWrite, errors: readonly FieldError[]): Promise<void> | undefined {
  refuse(store, preparation, errors)
  const completion = preparation.canonicalize()
  const running = completion === undefined ? undefined : run(store, preparation, completion)
  return running instanceof Promise ? running : undefined
}

function refuse(store: StoreInternals, preparation: PendingWrite, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const { statedType: stated } = preparation.about
  const kind = stated === undefined ? storedKind(store) : { group: parseApiVersion(stated.apiVersion).group, kind: stated.kind }
  throw ApiError.invalid(kind, preparation.name(), errors)
}
