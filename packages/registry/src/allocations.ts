import type {
  AllocationProblem,
  Allocator,
  AllocatorEnvironment,
  Grant,
  ResourceDefinition,
  StrategyContext,
} from '@krmkit/kinds'
import type { ApiObject, FieldError } from '@krmkit/meta'
import { StorageError } from '@krmkit/storage'
import type { FrozenObject } from './interfaces.ts'

interface Allocation {
  readonly allocator: Allocator
  /** Resolves when the newest queued write has ended. */
  last: Promise<unknown>
}

/** The values, such as cluster IPs and node ports, that an allocator grants to the object of one write. */
export class Grants {
  readonly #allocator: Allocator
  readonly #grants: Grant[] = []

  constructor(allocator: Allocator) {
    this.#allocator = allocator
  }

  /** Assigns the values that a prepared object lacks. Mutates the object. @returns an error for each value that cannot be granted. */
  async allocate(object: ApiObject, old: FrozenObject | undefined, context: StrategyContext): Promise<readonly FieldError[]> {
    const grant = await this.#allocator.allocate(object, old, context)
    this.#grants.push(grant)
    return grant.errors
  }

  async commit(): Promise<void> {
    for (const grant of this.#grants) await grant.commit?.()
  }

  async rollback(): Promise<void> {
    for (const grant of this.#grants) await grant.rollback?.()
  }
}

/** Runs the allocators of kinds whose objects hold values that must not be assigned twice. */
export class Allocations {
  readonly #environment: AllocatorEnvironment
  readonly #onError: (error: unknown) => void
  /** Allocations by storage resource, because all versions of a resource share one. */
  readonly #allocations = new Map<string, Allocation>()

  /** @param onError called when values could not be released; a later repair releases them */
  constructor(environment: AllocatorEnvironment, onError: (error: unknown) => void = () => undefined) {
    this.#environment = environment
    this.#onError = onError
  }

  /**
   * Runs a write. Where the allocator of the kind is ordered, the write starts when all earlier writes to the kind have ended. Writes to
   * kinds without an allocator start at once and get no grants.
   */
  run<T>(definition: ResourceDefinition, write: (grants: Grants | undefined) => Promise<T | undefined>): Promise<T | undefined> {
    const allocation = this.#of(definition)
    if (allocation === undefined) return write(undefined)
    const { allocator } = allocation
    if (!allocator.isOrdered) return this.#writeWithGrants(new Grants(allocator), write)
    const start = () => write(new Grants(allocator))
    const next = allocation.last.then(start, start)
    allocation.last = next.catch(() => undefined)
    return next
  }

  /** Releases the values of a removed object. */
  async removed(definition: ResourceDefinition, object: FrozenObject): Promise<void> {
    const release = this.#of(definition)?.allocator
    if (release?.release !== undefined) await this.#reported(() => release.release?.(object))
  }

  /** Corrects the records of all allocators. @returns the inconsistencies to report to users */
  async repair(definitions: readonly ResourceDefinition[]): Promise<readonly AllocationProblem[]> {
    const allocators = new Set(definitions.map((definition) => this.#of(definition)?.allocator))
    const problems: AllocationProblem[] = []
    for (const allocator of allocators) problems.push(...((await allocator?.repair?.()) ?? []))
    return problems
  }

  /** Grants stay when the outcome of the write is unknown: the object may hold them. */
  async #writeWithGrants<T>(grants: Grants, write: (grants: Grants) => Promise<T | undefined>): Promise<T | undefined> {
    let written: T | undefined
    try {
      written = await write(grants)
    } catch (error) {
      if (!isUnknownOutcome(error)) await this.#reported(() => grants.rollback())
      throw error
    }
    await this.#reported(() => (written === undefined ? grants.rollback() : grants.commit()))
    return written
  }

  async #reported(release: () => Promise<void> | undefined): Promise<void> {
    try {
      await release()
    } catch (error) {
      this.#onError(error)
    }
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

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof StorageError && error.detail.code === 'Unavailable' && error.detail.reason === 'outcome'
}
