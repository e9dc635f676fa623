import type { SurfaceSchema } from './interfaces.ts'

/** Finds what values of one type lose when read as another type. */

export interface SchemaDifference {
  readonly sort: 'added' | 'removed' | 'changed'
  readonly path: string
  readonly message: string
  /** Whether objects of the first type are invalid or lose members as objects of the second type. */
  readonly breaking: boolean
}

const maxDepth = 40

export interface CompareSchemasOptions {
  /** Pairs of named types that are compared already or elsewhere (`pairOf`), to share among kinds. */
  readonly seen?: Set<string>
  /** Whether the first type states the values of enumerations, so that stating them is a change. Default: true. */
  readonly statesEnums?: boolean
}

/** Compares two types. A named type below them is compared once, at the first place where it occurs. */
export function compareSchemas(
  before: SurfaceSchema,
  after: SurfaceSchema,
  options: CompareSchemasOptions = {},
): SchemaDifference[] {
  const found: SchemaDifference[] = []
  new Comparison(found, options).compare(before, after, '', 0)
  return found
}

/** Returns the key for the comparison of two named types; undefined when one of them has no name. */
export function pairOf(before: SurfaceSchema, after: SurfaceSchema): string | undefined {
  return before.name === undefined || after.name === undefined ? undefined : `${before.name} ${after.name}`
}

class Comparison {
  readonly #found: SchemaDifference[]
  readonly #seen: Set<string>
  readonly #statesEnums: boolean

  constructor(found: SchemaDifference[], { seen = new Set(), statesEnums = true }: CompareSchemasOptions) {
    this.#found = found
    this.#seen = seen
    this.#statesEnums = statesEnums
  }

  visit(before: SurfaceSchema, after: SurfaceSchema, path: string, depth: number): void {
    if (depth > maxDepth) return
    const pair = pairOf(before, after)
    if (pair !== undefined) {
      if (this.#seen.has(pair)) return
      this.#seen.add(pair)
    }
    this.compare(before, after, path, depth)
  }

  compare(before: SurfaceSchema, after: SurfaceSchema, path: string, depth: number): void {
    if (before.type !== after.type && after.type !== '' && before.type !== '') {
      if (!isWidened(before.type, after.type))
        this.#add('changed', path, `its type changes from ${before.type} to ${after.type}`, true)
      return
    }
    this.#enums(before, after, path)
    this.#members(before, after, path, depth)
    if (before.items !== undefined && after.items !== undefined) this.visit(before.items(), after.items(), `${path}[]`, depth + 1)
  }

  #enums(before: SurfaceSchema, after: SurfaceSchema, path: string): void {
    if (after.enum === undefined) return
    if (before.enum === undefined) {
      if (this.#statesEnums) this.#add('changed', path, `it is limited to ${after.enum.join(', ')}`, true)
      return
    }
    const removed = before.enum.filter((value) => !after.enum?.includes(value))
    const added = after.enum.filter((value) => !before.enum?.includes(value))
    if (removed.length > 0) this.#add('changed', path, `its values ${removed.join(', ')} are removed`, true)
    if (added.length > 0) this.#add('changed', path, `its values ${added.join(', ')} are added`, false)
  }

  #members(before: SurfaceSchema, after: SurfaceSchema, path: string, depth: number): void {
    const [old, next] = [before.members, after.members]
    for (const [name, member] of old ?? []) {
      const at = path === '' ? name : `${path}.${name}`
      const found = next?.get(name)
      if (found !== undefined) {
        if (found.required && !member.required) this.#add('changed', at, 'it becomes required', true)
        this.visit(member.schema(), found.schema(), at, depth + 1)
      } else if (!after.open && after.items === undefined) this.#add('removed', at, 'it is removed', true)
    }
    for (const [name, { required }] of next ?? []) {
      if (old?.has(name) === true || before.open) continue
      const at = path === '' ? name : `${path}.${name}`
      this.#add('added', at, required ? 'it is added, and required' : 'it is added', required)
    }
  }

  #add(sort: SchemaDifference['sort'], path: string, message: string, breaking: boolean): void {
    this.#found.push({ sort, path, message, breaking })
  }
}

/** Whether each value of a type is also a value of the other. */
function isWidened(before: string, after: string): boolean {
  if (before === 'integer') return after === 'number' || after === 'int-or-string'
  return before === 'string' && after === 'int-or-string'
}
