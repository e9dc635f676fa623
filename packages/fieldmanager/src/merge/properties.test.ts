import { RandomChoices } from '@krmkit/base/random-choices'
import { runAtOnce } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { FieldPath } from '../fieldpath/element.ts'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { valueAt } from '../offline/value-at.ts'
import { type RandomSchema, randomSchema, randomValue } from '../testing/random-schema.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { compareTyped } from '../typed/compare.direct.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { mergeTyped } from '../typed/merge.direct.ts'
import { namedFieldsAsMembers } from '../typed/named-fields.ts'
import type { TypeRef } from '../typed/types.ts'
import { equalValues } from '../value/equal.direct.ts'
import { identityConverter, type TypedValue } from './converter.ts'
import type { Managers } from './managers.ts'
import { applyManager, updateManagers } from './updater.direct.ts'
import { ownsChanges } from './updater.ts'

/** Random histories of several managers over random schemas. Failure messages contain the seed. */
const histories = 10_000
const options = { converter: identityConverter }

describe('random histories', () => {
  it('lose no path without an action of its owner, and own only paths that exist', () => {
    for (let seed = 1; seed <= histories; seed++) new History(seed).run()
  })

  it('do not change when an object is merged with itself', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const value = randomValue(random, schema.shapes, 't0')
      expect(mergeTyped(value, structuredClone(value), type), `seed ${seed}`).toBe(value)
      expect(mergeTyped(undefined, value, type), `seed ${seed}`).toEqual(value)
    }
  })

  it('merge to objects that contain the patch and nothing beyond base and patch', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const base = deepFreeze(randomValue(random, schema.shapes, 't0'))
      const patch = deepFreeze(randomValue(random, schema.shapes, 't0'))
      const merged = mergeTyped(base, patch, type) as JsonValue
      const { modified, removed } = compareTyped(patch, merged, type)
      expect([modified.size, removed.size], `seed ${seed}`).toEqual([0, 0])
      const owned = runAtOnce(namedFieldsAsMembers(fieldSetOf(merged, type), type))
      const either = runAtOnce(namedFieldsAsMembers(fieldSetOf(base, type).union(fieldSetOf(patch, type)), type))
      expect(owned.difference(either).paths(), `seed ${seed}`).toEqual([])
    }
  })

  it('ownsChanges agrees with the general update', () => {
    let kept = 0
    for (let seed = 1; seed <= 4000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const [before, after] = [randomValue(random, schema.shapes, 't0'), randomValue(random, schema.shapes, 't0')]
      const value = mergeTyped(before, after, type) as JsonValue
      const managers: Managers = new Map([
        ['a', { set: fieldSetOf(value, type), apiVersion: 'v1', applied: false }],
        ['b', { set: fieldSetOf(random.below(2) === 0 ? before : {}, type), apiVersion: 'v1', applied: true }],
      ])
      const write = { live: { value: before, type }, apiVersion: 'v1', managers, manager: 'a' }
      if (!ownsChanges(write, compareTyped(before, value, type), emptySet)) continue
      kept++
      const owners = new Map(updateManagers({ ...write, manager: '' }, { value, type }, options))
      const taken = owners.get('')?.set ?? emptySet
      const rest = owners.get('a')?.set ?? emptySet
      expect(taken.union(rest).equals(managers.get('a')?.set ?? emptySet), `seed ${seed}`).toBe(true)
      expect(owners.get('b')?.set ?? emptySet, `seed ${seed}`).toEqual(managers.get('b')?.set ?? emptySet)
    }
    expect(kept).toBeGreaterThan(500)
  })

  it('compareTyped is symmetric', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
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
  readonly #random: RandomChoices
  readonly #schema: RandomSchema
  readonly #type: TypeRef
  readonly #seed: number
  #live: TypedValue
  #managers: Managers = new Map()

  constructor(seed: number) {
    this.#seed = seed
    this.#random = new RandomChoices(seed)
    this.#schema = randomSchema(this.#random)
    this.#type = this.#schema.type('t0')
    this.#live = { value: null, type: this.#type }
  }

  run(): void {
    for (let step = 0; step < 6; step++) {
      const manager = this.#random.pick(['a', 'b', 'c'])
      const next = this.#typed(randomValue(this.#random, this.#schema.shapes, 't0'))
      if (this.#random.chance(30)) this.#update(`u-${manager}`, next)
      else this.#apply(manager, next, this.#random.chance(50))
      this.#checkOwnedExist()
    }
    for (const manager of ['a', 'b', 'c']) if (this.#managers.has(manager)) this.#applyNothing(manager)
    this.#checkOwnedExist()
  }

  #update(manager: string, next: TypedValue): void {
    const before = this.#live
    this.#managers = updateManagers({ live: before, apiVersion: 'v1', managers: this.#managers, manager }, next, options)
    this.#live = next
    const { added, modified, removed } = compareTyped(before.value, next.value, this.#type)
    const changed = added.union(modified).union(removed)
    for (const [name, { set }] of this.#managers) {
      if (name !== manager) this.#must(set.intersection(changed).empty, 'only the updater owns what it changes')
    }
    const own = this.#managers.get(manager)?.set ?? emptySet
    this.#must(added.union(modified).isSubsetOf(own), 'an updater owns what it changes')
  }

  #apply(manager: string, applied: TypedValue, force: boolean): void {
    const before = this.#managers
    const write = { live: this.#live, apiVersion: 'v1', managers: before, manager }
    const outcome = applyManager(write, applied, force, options)
    if (outcome.kind === 'conflict') {
      this.#must(!force, 'forced applies have no conflicts')
      for (const { manager: other, path } of outcome.conflicts) {
        this.#must(other !== manager && before.get(other)?.set.has(path) === true, 'conflicts name fields of other managers')
      }
      return
    }
    const after = this.#typed((outcome.object ?? this.#live).value ?? {})
    this.#checkKept(manager, { before, now: outcome.managers, after })
    const holds = compareTyped(withoutEmpty(applied.value), withoutEmpty(after.value), this.#type)
    this.#must(holds.modified.empty && holds.removed.empty, 'the object contains the applied fields')
    this.#live = after
    this.#managers = outcome.managers
    const again = applyManager({ ...write, live: after, managers: this.#managers }, applied, false, options)
    if (again.kind === 'conflict') this.#must(false, 'a repeated apply has no conflicts')
    else {
      const value = (again.object ?? after).value ?? {}
      this.#must(equalValues(withoutEmpty(value), withoutEmpty(after.value)), 'a repeated apply changes nothing')
      this.#must(sameOwners(again.managers, this.#managers), 'a repeated apply moves no ownership')
    }
  }

  /** Applying an empty configuration removes exactly the fields that only this manager owned, and unowned fields below them. */
  #applyNothing(manager: string): void {
    const before = this.#managers
    const write = { live: this.#live, apiVersion: 'v1', managers: before, manager }
    const outcome = applyManager(write, this.#typed({}), false, options)
    if (outcome.kind === 'conflict') expect.fail(`seed ${this.#seed}: broken: an empty apply has no conflicts`)
    const after = this.#typed((outcome.object ?? this.#live).value ?? {})
    this.#checkKept(manager, { before, now: outcome.managers, after })
    this.#must(!outcome.managers.has(manager), 'a manager that applies nothing owns nothing')
    const left = runAtOnce(namedFieldsAsMembers(fieldSetOf(withoutEmpty(after.value), this.#type), this.#type))
    const others = [...before].reduce((all, [name, { set }]) => (name === manager ? all : all.union(set)), emptySet)
    const sole = (before.get(manager)?.set ?? emptySet).difference(others).leaves()
    this.#must(sole.intersection(left.leaves()).empty, 'fields owned only by the manager are removed')
    this.#live = after
    this.#managers = outcome.managers
  }

  /** Other managers keep unchanged fields, and only fields at or below those of the manager are removed. */
  #checkKept(manager: string, { before, now, after }: { before: Managers; now: Managers; after: TypedValue }): void {
    const { added, modified, removed } = compareTyped(this.#live.value ?? {}, after.value, this.#type)
    const changed = added.union(modified).union(removed)
    const own = before.get(manager)?.set ?? emptySet
    for (const [name, { set }] of before) {
      if (name === manager) continue
      this.#must(set.difference(changed).isSubsetOf(now.get(name)?.set ?? emptySet), 'ownership is kept without a change')
      // As on kube-apiserver, removing an owned item of a map or list also removes fields of other managers below it.
      for (const path of set.intersection(removed).paths()) {
        this.#must(isAtOrBelow(path.slice(0, -1), own), 'fields of other managers are not removed')
      }
    }
    for (const path of removed.leaves().paths()) {
      const emptied = valueAt(this.#live.value, path, this.#type) === null
      this.#must(emptied || isAtOrBelow(path, own), 'removed fields were owned')
    }
  }

  #checkOwnedExist(): void {
    const there = runAtOnce(namedFieldsAsMembers(fieldSetOf(this.#live.value ?? {}, this.#type), this.#type))
    for (const { set } of this.#managers.values()) this.#must(set.isSubsetOf(there), 'owned fields exist')
  }

  #typed(value: JsonValue): TypedValue {
    return { value: deepFreeze(value), type: this.#type }
  }

  #must(condition: boolean, what: string): void {
    if (!condition) expect.fail(`seed ${this.#seed}: broken: ${what}`)
  }
}

/** Pruning leaves null where kube-apiserver has empty lists or maps; both count as equal here. */
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

function isAtOrBelow(path: FieldPath, set: FieldSet): boolean {
  return path.some((_, i) => set.has(path.slice(0, i + 1)))
}
