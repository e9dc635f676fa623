/**
 * The grants of one subject in one scope. A few grants are scanned; many are indexed by their permissions, so that the cost
 * of a decision does not grow with their number.
 */

import type { Attributes, Decision, PolicyRule } from '../interfaces.ts'
import { allowedReason } from './describe.ts'
import type { BindingObject } from './objects.ts'
import { ruleAllows } from './rule-match.ts'

/** A role that exists or that bindings reference. */
export class RoleEntry {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Undefined while the role does not exist. */
  rules: readonly PolicyRule[] | undefined
  /** Grants that reference the role. */
  readonly grants = new Set<Grant>()

  constructor(kind: string, namespace: string, name: string) {
    this.kind = kind
    this.namespace = namespace
    this.name = name
  }
}

/** A subject of a binding, with its role. */
export class Grant {
  readonly binding: BindingObject
  readonly subjectIndex: number
  readonly role: RoleEntry
  readonly list: GrantList
  #decisions: Decision[] = []

  constructor(binding: BindingObject, subjectIndex: number, role: RoleEntry, list: GrantList) {
    this.binding = binding
    this.subjectIndex = subjectIndex
    this.role = role
    this.list = list
  }

  /** Discards derived state after the rules of the role changed. */
  invalidate(): void {
    this.#decisions = []
    this.list.invalidate()
  }

  /** Returns the decision that allows a request by a rule of the role. Cached, because a few rules allow most requests. */
  decision(ruleIndex: number, subjectIndex: number): Decision {
    if (subjectIndex !== this.subjectIndex) return this.#createDecision(ruleIndex, subjectIndex)
    let decision = this.#decisions[ruleIndex]
    if (decision === undefined) {
      decision = this.#createDecision(ruleIndex, subjectIndex)
      this.#decisions[ruleIndex] = decision
    }
    return decision
  }

  #createDecision(ruleIndex: number, subjectIndex: number): Decision {
    const { binding, role } = this
    const subject = binding.subjects[subjectIndex]!
    return Object.freeze({
      decision: 'allow',
      reason: allowedReason(binding, subject),
      trace: Object.freeze({
        authorizer: 'RBAC',
        binding: { kind: binding.kind, namespace: binding.namespace, name: binding.name },
        role: { kind: role.kind, namespace: role.namespace, name: role.name },
        subject,
        rule: role.rules![ruleIndex]!,
        ruleIndex,
      }),
    })
  }
}

export interface Match {
  readonly grant: Grant
  readonly ruleIndex: number
}

/** From this number of grants on, an index is faster than a scan. */
const indexThreshold = 16
/** Rules with more combinations than this are scanned instead of indexed. */
const maxIndexedCombinations = 64

export class GrantList {
  readonly grants = new Set<Grant>()
  #index: GrantIndex | undefined

  add(grant: Grant): void {
    this.grants.add(grant)
    this.#index?.add(grant)
  }

  remove(grant: Grant): void {
    if (this.grants.delete(grant)) this.#index = undefined
  }

  invalidate(): void {
    this.#index = undefined
  }

  find(attributes: Attributes): Match | undefined {
    if (this.grants.size < indexThreshold) {
      for (const grant of this.grants) {
        const { rules } = grant.role
        if (rules === undefined) continue
        for (let i = 0; i < rules.length; i++) if (ruleAllows(rules[i]!, attributes)) return { grant, ruleIndex: i }
      }
      return undefined
    }
    this.#index ??= new GrantIndex(this.grants)
    return this.#index.find(attributes)
  }
}

/** Rules by verb, group, resource and name. Only the first rule of each combination is kept. */
class GrantIndex {
  readonly #exact = new Map<string, Match>()
  /** Non-resource rules, and rules with too many combinations. */
  readonly #unindexed: Match[] = []

  constructor(grants: Iterable<Grant>) {
    for (const grant of grants) this.add(grant)
  }

  add(grant: Grant): void {
    for (const [ruleIndex, rule] of (grant.role.rules ?? []).entries()) this.#addRule(rule, { grant, ruleIndex })
  }

  find(attributes: Attributes): Match | undefined {
    if (attributes.isResource) {
      const { verb, group, resource, subresource, name } = attributes
      const found =
        this.#findExact(verb, group, resource, subresource, name) ??
        this.#findExact('*', group, resource, subresource, name) ??
        this.#findExact(verb, '*', resource, subresource, name) ??
        this.#findExact('*', '*', resource, subresource, name)
      if (found !== undefined) return found
    }
    for (const match of this.#unindexed) {
      if (ruleAllows(match.grant.role.rules![match.ruleIndex]!, attributes)) return match
    }
    return undefined
  }

  #findExact(verb: string, group: string, resource: string, subresource: string, name: string): Match | undefined {
    const prefix = `${verb}\0${group}\0`
    if (subresource === '') return this.#findNamed(prefix + resource, name) ?? this.#findNamed(`${prefix}*`, name)
    return (
      this.#findNamed(`${prefix}${resource}/${subresource}`, name) ??
      this.#findNamed(`${prefix}*/${subresource}`, name) ??
      this.#findNamed(`${prefix}*`, name)
    )
  }

  #findNamed(key: string, name: string): Match | undefined {
    return this.#exact.get(key) ?? this.#exact.get(`${key}\0${name}`)
  }

  #addRule(rule: PolicyRule, match: Match): void {
    const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
    const combinations = verbs.length * apiGroups.length * resources.length * Math.max(1, resourceNames.length)
    if (nonResourceURLs.length > 0 || combinations > maxIndexedCombinations) {
      this.#unindexed.push(match)
      return
    }
    for (const verb of verbs) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          const key = `${verb}\0${group}\0${resource}`
          if (resourceNames.length === 0) this.#setIfAbsent(key, match)
          for (const name of resourceNames) this.#setIfAbsent(`${key}\0${name}`, match)
        }
      }
    }
  }

  #setIfAbsent(key: string, match: Match): void {
    if (!this.#exact.has(key)) this.#exact.set(key, match)
  }
}
