import { memberCountOfLargeMap, memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { ownMember } from '../typed/types.ts'
import { maxObjectDepth } from '../typed/walk.ts'
import { copyMembers } from '../value/copy-members.ts'
import { keysAfter } from '../value/keys.ts'
import { ChunkedList } from './chunked-list.ts'
import { positionOf, stepsOf } from './json-pointer.ts'
import { sortMembers } from './key-order.ts'

type Members = { [key: string]: JsonValue }

/** The target of a JSON pointer: a member of an object, or a position in a list. */
export interface PointerTarget {
  readonly container: JsonValue[] | Members
  readonly key: string
  /** Position in a list; its length for an addition at the end. `undefined` in objects, and where a list has no such position. */
  readonly index: number | undefined
}

/** Lists of at least this length are edited as chunked lists. */
const longList = 1024

/**
 * A document under edit with copy-on-write. Only containers on the path of a pointer are copied; everything else is shared with the
 * original, and inserted values are never modified.
 *
 * The document remains plain JSON, except for long lists under edit: their items are held in `#lists` until they are read as a
 * whole.
 */
export class Draft {
  #document: JsonValue
  /** Objects and lists that are copies. */
  readonly #own = new Set<object>()
  /** For each copied object: the original, and the keys set since. */
  readonly #objects = new Map<Members, { readonly original: object; readonly set: Set<string> }>()
  readonly #lists = new Map<JsonValue[], ChunkedList<JsonValue>>()

  constructor(document: JsonValue) {
    this.#document = document
  }

  /**
   * Resolves a pointer up to the container of its last step; `undefined` when the container does not exist, and for the pointer to the
   * whole document.
   *
   * @param adding Accepts the position after the last item, and `-`.
   * @see RFC 6901
   */
  *resolve(pointer: string, adding: boolean): Work<PointerTarget | undefined> {
    const steps = stepsOf(pointer)
    if (steps === undefined) return undefined
    this.#document = yield* this.#owned(this.#document)
    let container: JsonValue | undefined = this.#document
    const last = steps.length - 1
    for (let i = 0; i < last; i++) {
      const target = this.#targetIn(container, steps[i] as string, false)
      const below: JsonValue | undefined = target === undefined ? undefined : this.get(target)
      if (target === undefined || below === undefined) return undefined
      container = yield* this.#owned(below)
      if (container !== below) this.set(target, container)
    }
    return this.#targetIn(container, steps[last] as string, adding)
  }

  /** The value at a target, readonly; `undefined` when absent. Long lists inside it may be stale. */
  get({ container, key, index }: PointerTarget): JsonValue | undefined {
    if (!Array.isArray(container)) return ownMember(container, key)
    if (index === undefined || index >= this.#lengthOf(container)) return undefined
    return this.#lists.get(container)?.at(index) ?? container[index]
  }

  /** Like `get`, with long lists up to date. */
  getCurrent(target: PointerTarget): JsonValue | undefined {
    const value = this.get(target)
    if (value !== undefined && this.#lists.size > 0) this.#flush(value)
    return value
  }

  /** Replaces the value at a target, or adds a member. */
  set({ container, key, index }: PointerTarget, value: JsonValue): void {
    if (!Array.isArray(container)) {
      setMember(container, key, value)
      this.#objects.get(container)?.set.add(key)
    } else if (this.#lists.has(container)) this.#lists.get(container)?.set(index as number, value)
    else container[index as number] = value
  }

  /** Inserts an item before a position, or sets a member. */
  add(target: PointerTarget, value: JsonValue): void {
    const { container, index } = target
    if (!Array.isArray(container)) this.set(target, value)
    else this.#edited(container).insert(index as number, value)
  }

  remove({ container, key, index }: PointerTarget): void {
    if (!Array.isArray(container)) delete container[key]
    else this.#edited(container).remove(index as number)
  }

  replaceAll(document: JsonValue): void {
    this.#document = document
  }

  /** Whether a pointer has traversed an object. As on kube-apiserver, the members of such objects are sorted in the edited document. */
  isOpened(object: object): boolean {
    return this.#own.has(object)
  }

  /** The edited document. */
  *finish(): Work<JsonValue> {
    for (const list of this.#lists.keys()) this.#write(list)
    for (const [own, { original, set }] of this.#objects) {
      const isLarge = memberCountOfLargeMap(original) !== undefined
      yield* sortMembers(own, isLarge ? yield* keysAfter(own, memberNames(original), set) : Object.keys(own))
    }
    return this.#document
  }

  #targetIn(container: JsonValue | undefined, key: string, adding: boolean): PointerTarget | undefined {
    if (Array.isArray(container)) return { container, key, index: positionOf(key, this.#lengthOf(container), adding) }
    return isJsonObject(container) ? { container, key, index: undefined } : undefined
  }

  #lengthOf(list: JsonValue[]): number {
    return this.#lists.get(list)?.length ?? list.length
  }

  *#owned(value: JsonValue): Work<JsonValue> {
    if (typeof value !== 'object' || value === null || this.#own.has(value)) return value
    const own = Array.isArray(value) ? value.slice() : yield* copyMembers(value)
    this.#own.add(own)
    if (!Array.isArray(own)) this.#objects.set(own, { original: value, set: new Set() })
    return own
  }

  #edited(list: JsonValue[]): Pick<ChunkedList<JsonValue>, 'insert' | 'remove'> {
    const known = this.#lists.get(list)
    if (known !== undefined) return known
    if (list.length < longList) {
      return {
        insert: (index, value) => void list.splice(index, 0, value),
        remove: (index) => void list.splice(index, 1),
      }
    }
    const chunked = new ChunkedList(list)
    this.#lists.set(list, chunked)
    return chunked
  }

  /** Writes back pending edits of long lists within a value. */
  #flush(value: JsonValue, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > maxObjectDepth) return
    if (Array.isArray(value)) {
      if (this.#lists.has(value)) this.#write(value)
      for (const item of value) this.#flush(item, depth + 1)
    } else for (const key in value) this.#flush(value[key] as JsonValue, depth + 1)
  }

  #write(list: JsonValue[]): void {
    let i = 0
    for (const item of this.#lists.get(list) ?? []) list[i++] = item
    list.length = i
  }
}
