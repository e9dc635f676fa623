import type { Allocator, AllocatorEnvironment, ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import type { ApiObject, FieldError } from '@krmkit/meta'
import type { FrozenObject } from './interfaces.ts'

interface Allocation {
  readonly allocator: Allocator
  /** Settles when the last write that was queued has ended. */
  last: Promise<unknown>
}

/** Runs the allocators of kinds whose objects hold values that must not be assigned twice. */
export class Allocations {
  readonly #environment: AllocatorEnvironment
  /** By the resource that the objects are stored as: its versions share one. */
  readonly #allocations = new Map<string, Allocation>()

  constructor(environment: AllocatorEnvironment) {
    this.#environment = environment
  }

  /** Runs `write` once all earlier writes to the kind have ended; at once for kinds without an allocator. */
  inOrder<T>(definition: ResourceDefinition, write: () => Promise<T>): Promise<T> {
    const allocation = this.#of(definition)
    if (allocation === undefined) return write()
    const next = allocation.last.then(write, write)
    allocation.last = next.catch(() => undefined)
    return next
  }

  /** Fills in what a prepared object lacks. @returns the values that cannot be granted; `undefined` for kinds without an allocator. */
  allocate(
    definition: ResourceDefinition,
    object: ApiObject,
    old: FrozenObject | undefined,
    context: StrategyContext,
  ): Promise<FieldError[]> | undefined {
    return this.#of(definition)?.allocator.allocate(object, old, context)
  }

  #of({ strategy, storage }: ResourceDefinition): Allocation | undefined {
    if (strategy.createAllocator === undefined) return undefined
    const key = `${storage.group}/${storage.resource}`
    let allocation = this.#allocations.get(key)
    if (allocation === undefined) {
      allocation = { allocator: strategy.createAllocator(this.#environment), last: Promise.resolve() }
      this.#allocations.set(key, allocation)
    }
    return allocation
  }
}
