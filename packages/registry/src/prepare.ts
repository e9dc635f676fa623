import type { StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError } from '@krmkit/meta'
import { runAtOnce } from '@krmkit/meta/slices'
import type { FrozenObject } from './interfaces.ts'
import { type StoreInternals, storedKind } from './internals.ts'
import type { Stages } from './stages.ts'

/** A write between mutating and validating admission. */
export interface Preparation {
  readonly object: ApiObject
  /** The stored object; `undefined` for a creation. */
  readonly old: FrozenObject | undefined
  /** Name in error messages. */
  readonly name: string
  readonly about: StrategyContext
  readonly stages: Stages
  /** The write assigns values that no two objects may share. Writes of subresources do not. */
  readonly allocates: boolean
  /** Sets metadata and what clients may not choose. Mutates the object. */
  prepare(): void
  /** Completes the valid object. Mutates the object. */
  canonicalize(): void
  /** Large objects are validated in slices. */
  validate(): Generator<unknown, readonly FieldError[]>
}

/** Prepares an object, assigns its shared values and validates it. @throws ApiError 422 */
export async function prepareAndValidate(store: StoreInternals, preparation: Preparation): Promise<void> {
  const { definition, allocations } = store
  const { object, old, about, stages, allocates } = preparation
  preparation.prepare()
  const allocating = allocates ? allocations.allocate(definition, object, old, about) : undefined
  if (allocating !== undefined) refuse(store, preparation, await allocating)
  const loading = definition.strategy.ready?.(object, old)
  if (loading !== undefined) await loading
  const validation = preparation.validate()
  refuse(store, preparation, stages === undefined ? runAtOnce(validation) : await stages.run(validation))
  preparation.canonicalize()
}

function refuse(store: StoreInternals, preparation: Preparation, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw ApiError.invalid(storedKind(store), preparation.name, errors)
}
