import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { SeededNumbers } from '../testing/random.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { compareTyped } from '../typed/compare.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { typedSchemaFromSmd } from '../typed/from-smd.ts'
import { mergeTyped } from '../typed/merge.ts'
import { withNamedMembers } from '../typed/named-members.ts'
import type { TypeRef } from '../typed/types.ts'
import { identityConverter, type TypedValue } from './converter.ts'
import type { Managers } from './managers.ts'
import { applyManager, updateManagers } from './updater.ts'

/**
 * Random histories of several managers over random schemas. Each seed names one history, and is part of every failure.
 */
const histories = 10_000
const options = { converter: identityConverter }

describe('random histories', () => {
  it('no path is lost without an act of its owner, and every owned path exists or can be made again', () => {
    for (let seed = 1; seed <= histories; seed++) new History(seed).run()
  }, 120_000)

  it('merging what an object already holds changes nothing', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new SeededNumbers(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const value = randomValue(random, schema.shapes, 't0')
      expect(mergeTyped(value, structuredClone(value), type), `seed ${seed}`).toBe(value)
      expect(mergeTyped(undefined, value, type), `seed ${seed}`).toEqual(value)
    }
  })

  it('merged objects hold what the patch holds, and add nothing else', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new SeededNumbers(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const base = deepFreeze(randomValue(random, schema.shapes, 't0'))
      const patch = deepFreeze(randomValue(random, schema.shapes, 't0'))
      const merged = mergeTyped(base, patch, type) as JsonValue
      const { modified, removed } = compareTyped(patch, merged, type)
      expect([modified.size, removed.size], `seed ${seed}`).toEqual([0, 0])
      const owned = withNamedMembers(fieldSetOf(merged, type), type)
      const either = withNamedMembers(fieldSetOf(base, type).union(fieldSetOf(patch, type)), type)
      expect(owned.difference(either).paths(), `seed ${seed}`).toEqual([])
    }
  })

  it('differences reversed are the differences the other way', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new SeededNumbers(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const a = randomValue(random, schema.shapes, 't0')
      const b = randomValue(random, schema.shapes, 't0')
      const there = compareTyped(a, b, type)
      const back = compareTyped(b, a, type)
      expect(there.added.equals(back.removed), `seed ${seed}`).toBe(true)
      expect(there.removed.equals(back.added), `seed ${seed}`).toBe(true)
      expect(there.modified.equals(back.modified), `seed ${seed}`).toBe(true)
      expect(there.added.intersection(there.removed).empty, `seed ${seed}`).toBe(true)
      const none = compareTyped(a, structuredClone(a), type)
      expect([none.added.size, none.modified.size, none.removed.size], `seed ${seed}`).toEqual([0, 0, 0])
    }
  })
})

class History {
  readonly #random: SeededNumbers
  readonly #schema: RandomSchema
  readonly #type: TypeRef
  readonly #seed: number
  #live: TypedValue
  #managers: Managers = new Map()

  constructor(seed: number) {
    this.#seed = seed
    this.#random = new SeededNumbers(seed)
    this.#schema = randomSchema(this.#random)
    this.#type = this.#schema.type('t0')
    this.#live = { value: null, type: this.#type }
  }

  run(): void {
    for (let step = 0; step < 6; step++) {
      const manager = this.#random.pick(['a', 'b', 'c'])
      const next: TypedValue = { value: deepFreeze(randomValue(this.#random, this.#schema.shapes, 't0')), type: this.#type }
      if (this.#random.chance(30)) this.#update(`u-${manager}`, next)
      else this.#apply(manager, next, this.#random.chance(50))
    }
    this.#giveUp()
  }

  #update(manager: string, next: TypedValue): void {
    const before = this.#live
    this.#managers = updateManagers({ live: before, apiVersion: 'v1', managers: this.#managers, manager }, next, options)
    this.#live = next
    const { added, modified, removed } = compareTyped(before.value, next.value, this.#type)
    for (const [name, { set }] of this.#managers) {
      if (name !== manager)
        expect(set.intersection(added.union(modified).union(removed)).paths(), this.#about('owned by another')).toEqual([])
    }
    const own = this.#managers.get(manager)?.set ?? emptySet
    expect(added.union(modified).difference(own).paths(), this.#about('changed but not owned')).toEqual([])
  }

  #apply(manager: string, applied: TypedValue, force: boolean): void {
    const before = this.#managers
    const write = { live: this.#live, apiVersion: 'v1', managers: before, manager }
    const outcome = applyManager(write, applied, force, options)
    if (outcome.kind === 'conflict') {
      expect(force, this.#about('forced applies have no conflicts')).toBe(false)
      for (const { manager: other, path } of outcome.conflicts)
        expect(before.get(other)?.set.has(path), this.#about('conflict')).toBe(true)
      return
    }
    const after = deepFreeze({ value: (outcome.object ?? this.#live).value ?? {}, type: this.#type })
    this.#checkKept(manager, before, outcome.managers, after)
    const holds = compareTyped(withoutEmpty(applied.value), withoutEmpty(after.value), this.#type)
    expect([holds.modified.size, holds.removed.size], this.#about('holds what was applied')).toEqual([0, 0])
    this.#live = after
    this.#managers = outcome.managers
    const again = applyManager({ ...write, live: after, managers: this.#managers }, applied, false, options)
    expect(again.kind, this.#about('applying again has no conflicts')).toBe('applied')
    const same = again.kind === 'applied' ? withoutEmpty((again.object ?? after).value ?? {}) : undefined
    expect(same, this.#about('applying again changes nothing')).toEqual(withoutEmpty(after.value))
    if (again.kind === 'applied') expect(sameOwners(again.managers, this.#managers), this.#about('owners stay')).toBe(true)
  }

  /** What others own is there afterwards, and still theirs unless the apply changed it. */
  #checkKept(manager: string, before: Managers, now: Managers, after: TypedValue): void {
    const changes = compareTyped(this.#live.value, after.value, this.#type)
    const changed = changes.added.union(changes.modified).union(changes.removed)
    for (const [name, { set }] of before) {
      if (name === manager) continue
      const kept = now.get(name)?.set ?? emptySet
      expect(set.difference(changed).difference(kept).paths(), this.#about('lost without a change')).toEqual([])
      const gone = set.intersection(changes.removed)
      expect(
        gone
          .difference(before.get(manager)?.set ?? emptySet)
          .paths()
          .filter((path) => !isBelowOwned(path, before.get(manager)?.set)),
        this.#about('removed what others own'),
      ).toEqual([])
    }
  }

  /** Applying nothing removes just what the manager alone owns. */
  #giveUp(): void {
    for (const manager of ['a', 'b', 'c']) {
      const own = this.#managers.get(manager)?.set
      if (own === undefined) continue
      const live = this.#live
      const write = { live, apiVersion: 'v1', managers: this.#managers, manager }
      const outcome = applyManager(write, { value: {}, type: this.#type }, false, options)
      expect(outcome.kind, this.#about('giving up has no conflicts')).toBe('applied')
      if (outcome.kind !== 'applied') continue
      const after = outcome.object ?? live
      const { added, modified } = compareTyped(live.value ?? {}, after.value ?? {}, this.#type)
      expect(
        leavesOf(added).filter((path) => !isNull(after.value, path)),
        this.#about('nothing comes'),
      ).toEqual([])
      void modified
      for (const [name, { set }] of this.#managers) {
        if (name === manager) continue
        expect(outcome.managers.get(name)?.set.size ?? 0, this.#about('owners of others')).toBeLessThanOrEqual(set.size)
      }
      this.#live = deepFreeze({ value: after.value ?? {}, type: this.#type })
      this.#managers = outcome.managers
      expect(this.#managers.has(manager), this.#about('owns nothing')).toBe(false)
    }
  }

  #about(what: string): string {
    return `seed ${this.#seed}: ${what}`
  }
}

/** What is emptied by pruning becomes null, which says as much as an empty list or map. */
function withoutEmpty(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value ?? null
  const out: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    const kept = withoutEmpty(member)
    if (kept !== null && !(typeof kept === 'object' && Object.keys(kept).length === 0)) out[key] = kept
  }
  return out
}

function sameOwners(a: Managers, b: Managers): boolean {
  return a.size === b.size && [...a].every(([name, { set }]) => b.get(name)?.set.equals(set))
}

function leavesOf(set: FieldSet): (readonly string[])[] {
  return set.leaves().paths() as (readonly string[])[]
}

function isNull(value: JsonValue | undefined, path: readonly string[]): boolean {
  let current: JsonValue | undefined = value
  for (const element of path) {
    if (typeof current !== 'object' || current === null || Array.isArray(current)) return current === null
    current = (current as JsonObject)[element.slice(2)]
  }
  return current === null || current === undefined
}

function isBelowOwned(path: readonly string[], set: FieldSet | undefined): boolean {
  return path.some((_, i) => set?.has(path.slice(0, i + 1)))
}

type Shape =
  | { kind: 'string' | 'numeric' }
  | { kind: 'struct'; fields: Record<string, string>; atomic: boolean }
  | { kind: 'map'; of: string; atomic: boolean }
  | { kind: 'set' }
  | { kind: 'atoms'; of: string }
  | { kind: 'list'; of: string; keys: string[] }

interface RandomSchema {
  readonly shapes: Record<string, Shape>
  type(name: string): TypeRef
}

/** Types `t0` (a struct) to `t7`, each made of later ones, so that values end. */
function randomSchema(random: SeededNumbers): RandomSchema {
  const shapes: Record<string, Shape> = {}
  const last = 7
  for (let i = last; i >= 0; i--) shapes[`t${i}`] = i === 0 ? structShape(random, 0, last) : randomShape(random, i, last)
  const types = Object.entries(shapes).map(([name, shape]) => ({ name, ...definition(shape) }))
  const schema = typedSchemaFromSmd({
    types: [...types, { name: 'item', map: { fields: [{ name: 'key', type: { scalar: 'string' } }] } }] as JsonValue,
  })
  return { shapes, type: (name) => schema.type(name) }
}

function randomShape(random: SeededNumbers, i: number, last: number): Shape {
  if (i >= last - 1) return { kind: random.chance(70) ? 'string' : 'numeric' }
  const of = `t${i + 1 + random.below(last - i)}`
  switch (random.below(7)) {
    case 0:
      return { kind: 'set' }
    case 1:
      return { kind: 'atoms', of }
    case 2:
    case 3:
      return { kind: 'map', of, atomic: random.chance(20) }
    case 4:
      return { kind: 'list', of, keys: ['key'] }
    default:
      return structShape(random, i, last)
  }
}

function structShape(random: SeededNumbers, i: number, last: number): Shape {
  const fields: Record<string, string> = {}
  for (let n = 0; n < 2 + random.below(4); n++) fields[`f${n}`] = `t${i + 1 + random.below(last - i)}`
  return { kind: 'struct', fields, atomic: i > 0 && random.chance(15) }
}

function definition(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'struct': {
      const fields = Object.entries(shape.fields).map(([name, of]) => ({ name, type: { namedType: of } }))
      return { map: { fields, elementRelationship: shape.atomic ? 'atomic' : 'separable' } }
    }
    case 'map':
      return { map: { elementType: { namedType: shape.of }, elementRelationship: shape.atomic ? 'atomic' : 'separable' } }
    case 'set':
      return { list: { elementType: { scalar: 'string' }, elementRelationship: 'associative' } }
    case 'atoms':
      return { list: { elementType: { namedType: shape.of }, elementRelationship: 'atomic' } }
    case 'list': {
      const fields = [
        { name: 'key', type: { scalar: 'string' } },
        { name: 'v', type: { namedType: shape.of } },
      ]
      return { list: { elementType: { map: { fields } }, elementRelationship: 'associative', keys: shape.keys } }
    }
    default:
      return { scalar: shape.kind }
  }
}

function randomValue(random: SeededNumbers, shapes: Record<string, Shape>, name: string): JsonValue {
  const shape = shapes[name] as Shape
  // Never empty: an emptied part becomes null, and who owns the emptiness of a part is another story.
  const some = (limit: number): string[] => {
    const chosen = ['x', 'y', 'z'].filter(() => random.below(3) < limit)
    return chosen.length === 0 ? [random.pick(['x', 'y', 'z'])] : chosen
  }
  switch (shape.kind) {
    case 'struct': {
      const out: JsonObject = {}
      const first = random.pick(Object.keys(shape.fields))
      for (const [field, of] of Object.entries(shape.fields)) {
        if (field === first || random.chance(60)) out[field] = randomValue(random, shapes, of)
      }
      return out
    }
    case 'map':
      return Object.fromEntries(some(2).map((key) => [key, randomValue(random, shapes, shape.of)]))
    case 'set':
      return some(2)
    case 'atoms':
      return some(1).map(() => randomValue(random, shapes, shape.of))
    case 'list':
      return some(2).map((key) => (random.chance(80) ? { key, v: randomValue(random, shapes, shape.of) } : { key }))
    case 'numeric':
      return random.below(3)
    default:
      return random.pick(['p', 'q', 'r'])
  }
}
