import type { Preparation, StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError } from '@krmkit/meta'
import { runAtOnce } from '@krmkit/meta/slices'
import type { Grants } from './allocations.ts'
import type { FrozenObject } from './interfaces.ts'
import { type StoreInternals, storedKind } from './internals.ts'
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
  /** Completes the valid object, with interruption points. Mutates the object. `undefined`: the kind completes nothing. */
  canonicalize(): Generator<unknown, void> | undefined
  /** Large objects are validated in slices. */
  validate(): Generator<unknown, readonly FieldError[]>
}

/**
 * Prepares an object, assigns its shared values and validates it.
 *
 * @returns a promise where there is something to wait for; most small objects are ready when the function returns.
 * @throws ApiError 422
 */
export function prepareAndValidate(store: StoreInternals, preparation: PendingWrite): Promise<void> | undefined {
  const preparing = preparation.prepare()
  if (preparing !== undefined) {
    const { stages } = preparation
    if (stages !== undefined) return stages.run(preparing).then(() => allocated(store, preparation))
    runAtOnce(preparing)
  }
  return allocated(store, preparation)
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
  const { object, old, stages } = preparation
  const loading = store.definition.strategy.ready?.(object, old)
  if (loading !== undefined || stages !== undefined) return validatedLater(store, preparation, loading)
  refuse(store, preparation, runAtOnce(preparation.validate()))
  const completion = preparation.canonicalize()
  if (completion !== undefined) runAtOnce(completion)
  return undefined
}

async function validatedLater(
  store: StoreInternals,
  preparation: PendingWrite,
  loading: Promise<void> | undefined,
): Promise<void> {
  const { stages } = preparation
  if (loading !== undefined) await loading
  const validation = preparation.validate()
  refuse(store, preparation, stages === undefined ? runAtOnce(validation) : await stages.run(validation))
  const completion = preparation.canonicalize()
  if (completion === undefined) return
  if (stages === undefined) runAtOnce(completion)
  else await stages.run(completion)
}

function refuse(store: StoreInternals, preparation: PendingWrite, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw ApiError.invalid(storedKind(store), preparation.name(), errors)
}
