import type { JsonValue } from '@krmkit/meta'
import type { Work } from '@krmkit/meta/work'
import type { PathElement } from '../fieldpath/element.ts'
import { FieldSetBuilder } from '../fieldpath/field-set.ts'
import { itemElement, ListItemError } from './list-item.ts'
import type { ListAtom } from './types.ts'
import { maxObjectDepth, tooDeepError, Walk } from './walk.ts'

/** The state of a comparison: its path, the differences found, and parts that are compared later. */

/** A path element that is computed only when something differs below it. */
export interface LazyItem {
  readonly list: ListAtom
  readonly item: JsonValue
}

/** A deferred comparison below a path. */
export interface DeferredPart {
  readonly path: (PathElement | LazyItem)[]
  readonly steps: Work
}

export class CompareWalk {
  path: (PathElement | LazyItem)[] = []
  /** Created with the first error. */
  #failed: Walk | undefined
  readonly added = new FieldSetBuilder()
  readonly modified = new FieldSetBuilder()
  readonly removed = new FieldSetBuilder()
  /** Number of members and items compared so far. */
  compared = 0
  readonly #deferred: DeferredPart[] | undefined

  /** @param deferred Receives deferred maps and lists; when absent, everything is compared immediately. */
  constructor(deferred?: DeferredPart[]) {
    this.#deferred = deferred
  }

  get errors(): readonly string[] {
    return this.#failed?.errors ?? []
  }

  get sliced(): boolean {
    return this.#deferred !== undefined
  }

  defer(steps: Work): void {
    this.#deferred?.push({ path: [...this.path], steps })
  }

  enter(element: PathElement | LazyItem): void {
    if (this.path.push(element) > maxObjectDepth) {
      throw tooDeepError()
    }
  }

  insert(into: FieldSetBuilder): void {
    into.insert(this.resolvePath(), this.path.length)
  }

  fail(message: string): void {
    this.#failed ??= new Walk()
    if (this.#failed.full) return
    this.#failed.path.splice(0, Number.POSITIVE_INFINITY, ...this.resolvePath())
    this.#failed.fail(message)
  }

  resolvePath(): PathElement[] {
    for (let i = 0; i < this.path.length; i++) {
      const element = this.path[i]
      if (typeof element === 'object') {
        const text = itemElement(element.list, element.item)
        this.path[i] = text instanceof ListItemError ? 'i:0' : text
      }
    }
    return this.path as PathElement[]
  }
}
