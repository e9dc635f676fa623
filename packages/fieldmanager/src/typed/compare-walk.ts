import type { JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { FieldSetBuilder } from '../fieldpath/field-set.ts'
import { itemElement, ListItemError } from './list-item.ts'
import type { ListAtom } from './types.ts'
import { maxObjectDepth, tooDeepError, Walk } from './walk.ts'

/** A path element that is computed only when something differs below it. */
export interface LazyItem {
  readonly list: ListAtom
  readonly item: JsonValue
}

/** State of a walk that computes paths only for errors and differences. */
export class LazyWalk {
  readonly path: (PathElement | LazyItem)[] = []
  /** Created with the first error. */
  #failed: Walk | undefined
  /** Number of members and items visited so far. */
  visited = 0

  get errors(): readonly string[] {
    return this.#failed?.errors ?? []
  }

  enter(element: PathElement | LazyItem): void {
    if (this.path.push(element) > maxObjectDepth) {
      throw tooDeepError()
    }
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

/** The state of a comparison, with the differences found. */
export class CompareWalk extends LazyWalk {
  readonly added = new FieldSetBuilder()
  readonly modified = new FieldSetBuilder()
  readonly removed = new FieldSetBuilder()

  insert(into: FieldSetBuilder): void {
    into.insert(this.resolvePath(), this.path.length)
  }
}
