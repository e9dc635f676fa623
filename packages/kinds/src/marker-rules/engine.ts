/**
 * Validates an object by the rules of its type, as the functions that Kubernetes generates from validation markers do: calls of the type, then
 * each field. An update does not validate again what it leaves as it is.
 */
import { memberNames, type Work } from '@krmkit/base/work'
import { Path } from '@krmkit/meta'
import { ErrorList, rethrowUnlessFull } from '@krmkit/meta/validation'
import { largeMap } from '../strategies/shared/for-each.ts'
import { inOrder, own } from '../strategies/shared/values.ts'
import { type Check, checks, childOf, isPresent, isSame, type Place, type Problem } from './checks.ts'
import { itemKeys } from './items.ts'
import type { Call, FieldRule, RuleLevel, TypeRule } from './notation.ts'

export type Rules = ReadonlyMap<string, TypeRule>

export interface Options {
  readonly rules: Rules
  readonly isUpdate: boolean
  /** Whether rules of the level beta report errors. */
  readonly reportsBeta: boolean
  /** The value of an option that rules depend on, most of which are feature gates. */
  enabled(option: string): boolean
}

type Struct = Readonly<Record<string, unknown>>

/** The problems of an object. @param type `folder/version.Kind` @param old the stored object of an update */
export function* problemsOf(type: string, object: unknown, old: unknown, options: Options): Work<readonly Problem[]> {
  const walk = new Walk(options)
  const place = { path: undefined, value: object, old, isCorrelated: old !== undefined, field: noField, type }
  try {
    yield* walk.type(type, place)
  } catch (error) {
    rethrowUnlessFull(error, walk.limit)
  }
  return walk.problems
}

const noField: Place['field'] = { name: '', isPointer: true, container: undefined, keys: undefined }

/** Items and members between two pauses. */
const itemsPerStep = 64

/** Calls that end the field where they fail; the others of them still run. */
const ending: ReadonlySet<string> = new Set([
  ...['required', 'optional', 'forbidden', 'immutable', 'update', 'maxItems', 'maxProperties'],
])

const isEnding = ({ name, inner }: Call): boolean => ending.has(name) || (inner?.some(isEnding) ?? false)

class Walk {
  readonly problems: Problem[] = []
  /** Ends the walk when there are too many errors. */
  readonly limit = new ErrorList()
  readonly #options: Options
  #steps = 0

  constructor(options: Options) {
    this.#options = options
  }

  *type(name: string, place: Place): Work {
    const rule = this.#options.rules.get(name)
    if (rule === undefined) return
    if (yield* this.groups(rule.groups, { ...place, type: name })) return
    for (const each of rule.fields) yield* this.field(each, { ...place, type: name })
  }

  /** @param parent the struct */
  *field(rule: FieldRule, parent: Place): Work {
    const { type, path } = parent
    if (rule.name === '') return yield* this.type(rule.target!, parent)
    const value = own(parent.value as Struct | undefined, rule.name)
    const old = own(parent.old as Struct | undefined, rule.name)
    const isCorrelated = parent.isCorrelated
    if (yield* this.#isUnchanged(value, old, isCorrelated, rule.isPointer)) return
    const place: Place = { path: childOf(path, rule.name), value, old, isCorrelated, field: rule, type }
    if (yield* this.groups(rule.groups, place)) return
    if (rule.target !== undefined) yield* this.values(rule, place)
  }

  /** @returns whether the first group, that of the field, has ended it */
  *groups(groups: readonly (readonly Call[])[], place: Place): Work<boolean> {
    let hasEnded = false
    for (const [i, calls] of groups.entries()) {
      const ended = yield* this.calls(calls, place)
      if (i === 0 && ended) hasEnded = true
      if (hasEnded) break
    }
    return hasEnded
  }

  /** Calls in order: those that end a value stand before the others. @returns whether one has ended it */
  *calls(calls: readonly Call[], place: Place): Work<boolean> {
    let hasEnded = false
    for (const call of calls) {
      if (hasEnded && !isEnding(call)) return true
      if ((yield* this.call(call, place, call.level)) && isEnding(call)) hasEnded = true
    }
    return hasEnded
  }

  /** @returns whether the call failed */
  *call(call: Call, place: Place, level: RuleLevel): Work<boolean> {
    const { name, args } = call
    const wrapper = wrappers[name]
    if (wrapper !== undefined) return yield* wrapper(this, call, place, level)
    const { value, field } = place
    if (name === 'optional') return !isPresent(value, field.isPointer)
    const check: Check = checks[name]!
    const found = check(place, args, this.#options)
    const problems = Array.isArray(found) ? (found as readonly Problem[]) : yield* found as Work<readonly Problem[]>
    for (const each of problems) this.report(each, level)
    // A value that may not be set has no other rules.
    return name === 'forbidden' || problems.length > 0
  }

  report(problem: Problem, level: RuleLevel): void {
    if (level === 'alpha' || (level === 'beta' && !this.#options.reportsBeta)) return
    this.problems.push(problem)
    this.limit.push(problem.error)
  }

  enabled(option: string): boolean {
    return this.#options.enabled(option)
  }

  get isUpdate(): boolean {
    return this.#options.isUpdate
  }

  /** The values of a field whose type has rules: itself, items or members. */
  *values(rule: FieldRule, place: Place): Work {
    const target = rule.target!
    if (rule.container !== undefined) {
      yield* this.each(place, (each) => this.type(target, each))
      return
    }
    if (rule.isPointer && !isPresent(place.value, true)) return
    const zero = this.#options.rules.get(target)?.isString === true ? '' : {}
    const old = rule.isPointer ? (place.old ?? undefined) : (place.old ?? (place.isCorrelated ? zero : undefined))
    yield* this.type(target, { ...place, value: place.value ?? zero, old, isCorrelated: old !== undefined, field: valueField })
  }

  /** Runs work for each item of a list or member of a map that an update changes. @returns whether one has failed */
  *each(place: Place, run: (each: Place) => Work<unknown>): Work<boolean> {
    const { value, old, field } = place
    if (field.container === 'map') return yield* this.#eachMember(place, run)
    if (!Array.isArray(value)) return false
    let hasFailed = false
    const { keys } = field
    const known = keys !== undefined && Array.isArray(old) ? yield* this.#itemsByKey(old, keys) : undefined
    const keyOf = itemKeys(keys ?? [])
    for (const [i, item] of value.entries()) {
      if (++this.#steps % itemsPerStep === 0) yield
      const before = known?.get(keyOf(item))
      if (yield* this.#isUnchanged(item, before, before !== undefined, false)) continue
      const path = place.path!.index(i)
      const ofItem = { ...place, path, value: item, old: before, isCorrelated: before !== undefined, field: valueField }
      if ((yield* run(ofItem)) === true) hasFailed = true
    }
    return hasFailed
  }

  *#eachMember(place: Place, run: (each: Place) => Work<unknown>): Work<boolean> {
    let hasFailed = false
    const members = (place.value ?? {}) as Struct
    const names = memberNames(members)
    if (names.length > largeMap) yield true
    for (const name of inOrder(names)) {
      if (++this.#steps % itemsPerStep === 0) yield
      const value = members[name]
      const old = own(place.old as Struct | undefined, name)
      if (yield* this.#isUnchanged(value, old, old !== undefined, false)) continue
      const path = place.path!.key(name)
      if ((yield* run({ ...place, path, value, old, isCorrelated: old !== undefined, field: valueField })) === true)
        hasFailed = true
    }
    return hasFailed
  }

  *#itemsByKey(items: readonly unknown[], keys: readonly string[]): Work<ReadonlyMap<string, unknown>> {
    const keyOf = itemKeys(keys)
    const known = new Map<string, unknown>()
    for (const item of items) {
      if (++this.#steps % itemsPerStep === 0) yield
      const key = keyOf(item)
      if (!known.has(key)) known.set(key, item)
    }
    return known
  }

  *#isUnchanged(value: unknown, old: unknown, isCorrelated: boolean, isPointer: boolean): Work<boolean> {
    return this.#options.isUpdate && isCorrelated && (yield* isSame(value, old, isPointer))
  }
}

/** Items, members and values of structs: they are no pointers. */
const valueField: Place['field'] = { name: '', isPointer: false, container: undefined, keys: undefined }

type Wrapper = (walk: Walk, call: Call, place: Place, level: RuleLevel) => Work<boolean>

const innerOf = ({ inner }: Call) => inner![0]!

/** A text with the mark of a pointer. */
const nameOf = (text: string) => (text.endsWith('*') ? text.slice(0, -1) : text)

/** Calls of something inside of the value, or under a condition. */
const wrappers: Readonly<Record<string, Wrapper>> = {
  *on(walk, call, place, level) {
    return walk.enabled(call.args[0]!) && (yield* walk.call(innerOf(call), place, level))
  },
  *off(walk, call, place, level) {
    return !walk.enabled(call.args[0]!) && (yield* walk.call(innerOf(call), place, level))
  },
  each(walk, call, place, level) {
    return walk.each(place, (each) => walk.call(innerOf(call), each, level))
  },
  /** Errors of keys are those of the map. */
  *key(walk, call, place, level) {
    const names = inOrder(memberNames((place.value ?? {}) as Struct))
    let hasFailed = false
    for (const [i, name] of names.entries()) {
      if (i % itemsPerStep === itemsPerStep - 1) yield
      if (walk.isUpdate && own(place.old as Struct | undefined, name) !== undefined) continue
      const ofKey = { ...place, value: name, old: undefined, isCorrelated: false, field: valueField }
      if (yield* walk.call(innerOf(call), ofKey, level)) hasFailed = true
    }
    return hasFailed
  },
  *item(walk, call, place, level) {
    const terms = call.args[0]!.split('+').map((term) => term.split('=') as [string, string])
    const isItem = (item: unknown) => terms.every(([key, value]) => String((item as Struct)[key] ?? '') === value)
    const find = (list: unknown) => (Array.isArray(list) ? list.findIndex(isItem) : -1)
    const [index, oldIndex] = [find(place.value), find(place.old)]
    if (index < 0) return false
    const value = (place.value as readonly unknown[])[index]
    const old = oldIndex < 0 ? undefined : (place.old as readonly unknown[])[oldIndex]
    if (walk.isUpdate && old !== undefined && (yield* isSame(value, old, false))) return false
    const path = place.path!.index(index)
    const ofItem = { ...place, path, value, old, isCorrelated: old !== undefined, field: valueField }
    return yield* walk.call(innerOf(call), ofItem, level)
  },
  *sub(walk, call, place, level) {
    const name = nameOf(call.args[0]!)
    return yield* inMember(walk, { calls: call.inner!, member: call.args[0]!, level }, place, name)
  },
  *mode(walk, call, place) {
    const [discriminator = '', member = ''] = call.args
    const modeOf = (struct: unknown) => String((struct as Struct | undefined)?.[discriminator] ?? '')
    const mode = modeOf(place.value)
    const name = nameOf(member)
    const [value, old] = [own(place.value as Struct, name), own(place.old as Struct | undefined, name)]
    const isPointer = member.endsWith('*')
    if (walk.isUpdate && place.old !== undefined && mode === modeOf(place.old) && (yield* isSame(value, old, isPointer)))
      return false
    const calls = call.modes!.get(mode) ?? call.modes!.get('') ?? []
    const field = { ...valueField, name, isPointer }
    const path = childOf(place.path, name)
    return yield* walk.calls(calls, { ...place, path, value, old, isCorrelated: place.old !== undefined, field })
  },
}

interface MemberCalls {
  readonly calls: readonly Call[]
  readonly member: string
  readonly level: RuleLevel
}

function* inMember(walk: Walk, { calls, member, level }: MemberCalls, place: Place, name: string): Work<boolean> {
  const [value, old] = [own(place.value as Struct | undefined, name), own(place.old as Struct | undefined, name)]
  const isPointer = member.endsWith('*')
  if (walk.isUpdate && place.isCorrelated && (yield* isSame(value, old, isPointer))) return false
  const field = { ...valueField, name, isPointer }
  const path = place.path === undefined ? Path.of(name) : place.path.child(name)
  return yield* walk.call(calls[0]!, { ...place, path, value, old, field }, level)
}
