import { equalValues, isCollection, partsOf, type SourceEntry } from './source-tree.ts'

/** Aligns a changed value with the text: finds the original entry of each part. */

/** Path of a part (`/spec/rules/0`) -> its entry. */
export type Alignment = ReadonlyMap<string, SourceEntry>

/** A part of the new value whose path has no entry in the text. */
interface Fresh {
  readonly path: string
  readonly name: string
  readonly value: unknown
  readonly isItem: boolean
  /** Nearest enclosing entry that is aligned with the new value. */
  readonly scope: SourceEntry
}

/** An entry of the text whose path does not exist in the new value. */
interface Spare {
  readonly entry: SourceEntry
  readonly scope: SourceEntry
}

/**
 * Entries whose path still exists are kept. Others are matched by value, or, for collections, by contained values, so that
 * renamed or moved members keep their comments and style.
 */
export function align(root: SourceEntry, value: unknown): Alignment {
  return new Aligner().align(root, value)
}

class Aligner {
  readonly #found = new Map<string, SourceEntry>()
  readonly #used = new Set<SourceEntry>()
  #fresh: Fresh[] = []
  readonly #spare: Spare[] = []

  align(root: SourceEntry, value: unknown): Alignment {
    this.#found.set('', root)
    this.#pair(root, value, '', root)
    while (this.#fresh.length > 0) {
      const batch = this.#fresh
      this.#fresh = []
      for (const part of batch) this.#place(part)
    }
    return this.#found
  }

  #pair(entry: SourceEntry, value: unknown, path: string, scope: SourceEntry): void {
    if (entry.children === undefined || !isCollection(value) || Array.isArray(value) !== Array.isArray(entry.value)) return
    const isItem = Array.isArray(value)
    const byName = new Map(entry.children.map((child, index) => [isItem ? String(index) : (child.key as string), child]))
    for (const [name, part] of partsOf(value)) {
      const child = byName.get(name)
      const at = `${path}/${name}`
      if (child === undefined) {
        this.#fresh.push({ path: at, name, value: part, isItem, scope })
        continue
      }
      byName.delete(name)
      this.#take(at, child)
      if (!equalValues(child.value, part)) this.#pair(child, part, at, child)
    }
    for (const child of byName.values()) this.#spareAll(child, scope)
  }

  #spareAll(entry: SourceEntry, scope: SourceEntry): void {
    this.#spare.push({ entry, scope })
    for (const child of entry.children ?? []) this.#spareAll(child, scope)
  }

  #take(path: string, entry: SourceEntry): void {
    this.#found.set(path, entry)
    this.#used.add(entry)
  }

  #place(part: Fresh): void {
    const same = this.#equal(part)
    if (same !== undefined) {
      this.#take(part.path, same)
      for (const inner of below(same)) this.#used.add(inner)
      return
    }
    if (!isCollection(part.value)) return
    const similar = this.#similar(part, part.value)
    if (similar === undefined) {
      const isItem = Array.isArray(part.value)
      for (const [name, value] of partsOf(part.value))
        this.#fresh.push({ path: `${part.path}/${name}`, name, value, isItem, scope: part.scope })
      return
    }
    this.#take(part.path, similar)
    const inner = new Set(similar.children)
    // The members of the entry are aligned again, under the new path.
    for (let i = this.#spare.length - 1; i >= 0; i--) if (inner.has((this.#spare[i] as Spare).entry)) this.#spare.splice(i, 1)
    this.#pair(similar, part.value, part.path, similar)
  }

  /**
   * Finds an entry with the same value, preferably one that is unused, has the same name, and has the same scope. A
   * collection may be used twice.
   */
  #equal({ name, value, isItem, scope }: Fresh): SourceEntry | undefined {
    const isLarge = isCollection(value) && partsOf(value).length > 0
    const candidates = this.#spare.filter(
      (spare) =>
        (spare.entry.key === undefined) === isItem &&
        equalValues(spare.entry.value, value) &&
        (isLarge || (!this.#used.has(spare.entry) && spare.scope === scope)),
    )
    const rank = ({ entry, scope: own }: Spare) =>
      (this.#used.has(entry) ? 0 : 4) + (entry.key === name ? 2 : 0) + (own === scope ? 1 : 0)
    return candidates.sort((a, b) => rank(b) - rank(a))[0]?.entry
  }

  /** Finds an unused collection of the same scope that shares most of its values with the part. */
  #similar({ name, isItem, scope }: Fresh, value: object): SourceEntry | undefined {
    const wanted = leaves(value)
    const inner = memberNames(value)
    return this.#spare.find(
      ({ entry, scope: own }) =>
        own === scope &&
        !this.#used.has(entry) &&
        (entry.key === undefined) === isItem &&
        // Not an entry whose name occurs inside the part: it corresponds to that member.
        (entry.key === name || entry.key === undefined || !inner.has(entry.key)) &&
        Array.isArray(entry.value) === Array.isArray(value) &&
        isCollection(entry.value) &&
        areSimilar(leaves(entry.value), wanted),
    )?.entry
  }
}

/** All entries below an entry. */
export function below(entry: SourceEntry): SourceEntry[] {
  return (entry.children ?? []).flatMap((child) => [child, ...below(child)])
}

function areSimilar(some: readonly unknown[], others: readonly unknown[]): boolean {
  const shared = some.filter((leaf) => others.includes(leaf)).length
  return shared * 2 > Math.max(some.length, others.length)
}

/** Collects the names of all members within a value. */
function memberNames(value: object, found = new Set<string>()): Set<string> {
  for (const [name, part] of partsOf(value)) {
    if (!Array.isArray(value)) found.add(name)
    if (isCollection(part)) memberNames(part, found)
  }
  return found
}

const maxLeaves = 50

/** Collects strings and numbers within a value, except trivial ones. */
function leaves(value: unknown, found: unknown[] = []): unknown[] {
  if (found.length >= maxLeaves) return found
  if (isCollection(value)) for (const [, part] of partsOf(value)) leaves(part, found)
  else if (typeof value === 'string' || typeof value === 'number') found.push(value)
  return found
}
