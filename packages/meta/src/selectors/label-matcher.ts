/**
 * The requirements of a label selector, merged per key, so that matching costs O(labels of the object).
 *
 *     a!=1,a!=2,a,b in (x,y),b in (y,z),!c
 *     required: a present and none of {1, 2}; b one of {y}
 *     optional: c absent
 */

import { compareInt64, type SplitInt64, splitInt64 } from './int64-text.ts'
import type { LabelRequirement, Labels } from './label-requirement.ts'

/** All requirements on one key. */
interface KeyRule {
  readonly key: string
  /** The label must be present. */
  required: boolean
  /** The label must be absent. */
  absent: boolean
  included: Set<string> | undefined
  excluded: Set<string> | undefined
  /** Exclusive bounds. */
  above: SplitInt64 | undefined
  below: SplitInt64 | undefined
}

/** The conjunction of all requirements of a selector. */
export class LabelMatcher {
  readonly #nothing: boolean
  readonly #required: readonly KeyRule[]
  /** Rules that objects without the label satisfy. */
  readonly #optional: ReadonlyMap<string, KeyRule>

  constructor(requirements: readonly LabelRequirement[]) {
    const rules = new Map<string, KeyRule>()
    let possible = true
    for (const requirement of requirements) {
      let rule = rules.get(requirement.key)
      if (rule === undefined) {
        rule = newRule(requirement.key)
        rules.set(requirement.key, rule)
      }
      if (!add(rule, requirement)) possible = false
    }
    const needed: KeyRule[] = []
    for (const rule of rules.values()) {
      if (!simplify(rule)) possible = false
      if (!rule.required) continue
      needed.push(rule)
      rules.delete(rule.key)
    }
    this.#nothing = !possible
    this.#required = needed
    this.#optional = rules
  }

  matches(labels: Labels): boolean {
    if (this.#nothing) return false
    // Rules have distinct keys, so an object of n labels fails at rule n + 1 at the latest.
    for (const rule of this.#required) {
      if (labels === undefined || labels === null || !Object.hasOwn(labels, rule.key)) return false
      if (!accepts(rule, labels[rule.key] as string)) return false
    }
    if (this.#optional.size === 0 || labels === undefined || labels === null) return true
    for (const key in labels) {
      const rule = this.#optional.get(key)
      if (rule !== undefined && Object.hasOwn(labels, key) && !accepts(rule, labels[key] as string)) return false
    }
    return true
  }
}

function newRule(key: string): KeyRule {
  return { key, required: false, absent: false, included: undefined, excluded: undefined, above: undefined, below: undefined }
}

/** @returns false for an unsatisfiable requirement. */
function add(rule: KeyRule, { operator, values }: LabelRequirement): boolean {
  switch (operator) {
    case 'exists':
      rule.required = true
      return true
    case '!':
      rule.absent = true
      return true
    case 'in':
    case '=':
    case '==':
      rule.required = true
      rule.included = rule.included === undefined ? new Set(values) : intersection(rule.included, values)
      return true
    case 'notin':
    case '!=':
      rule.excluded ??= new Set()
      for (const value of values) rule.excluded.add(value)
      return true
    default: {
      rule.required = true
      const text = values[0] ?? ''
      const bound = splitInt64(text)
      if (bound === undefined) return false
      if (operator === 'gt') {
        if (rule.above === undefined || compareInt64(text, rule.above) > 0) rule.above = bound
      } else if (rule.below === undefined || compareInt64(text, rule.below) < 0) rule.below = bound
      return true
    }
  }
}

/** Costs O(new values), regardless of the known ones. */
function intersection(known: Set<string>, values: readonly string[]): Set<string> {
  return new Set(values.filter((value) => known.has(value)))
}

/** Removes included values that other requirements reject. @returns false for an unsatisfiable rule. */
function simplify(rule: KeyRule): boolean {
  if (rule.required && rule.absent) return false
  if (rule.included === undefined) return true
  for (const value of rule.included) {
    if (rule.excluded?.has(value) === true || !isWithin(rule, value)) rule.included.delete(value)
  }
  rule.excluded = undefined
  rule.above = undefined
  rule.below = undefined
  return rule.included.size > 0
}

function accepts(rule: KeyRule, value: string): boolean {
  if (rule.absent) return false
  if (rule.included !== undefined) return rule.included.has(value)
  return rule.excluded?.has(value) !== true && isWithin(rule, value)
}

/** Values that are not integers are out of range. */
function isWithin({ above, below }: KeyRule, value: string): boolean {
  return (above === undefined || compareInt64(value, above) > 0) && (below === undefined || compareInt64(value, below) < 0)
}
