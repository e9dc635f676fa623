/**
 * Grants of one subject in one scope: the cluster, or a namespace. Few are gone through; many are filed by what they allow, so
 * that the cost of a decision does not grow with them.
 */

import type { Attributes, Decision, PolicyRule } from '../interfaces.ts'
import { allowedReason } from './describe.ts'
import type { BindingObject } from './objects.ts'
import { ruleAllows } from './rule-match.ts'

/** A role that bindings name, whether it exists or not. */
export class RoleEntry {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Absent: there is no such role. */
  rules: readonly PolicyRule[] | undefined
  /** Grants that lead here. */
  readonly grants = new Set<Grant>()

  constructor(kind: string, namespace: string, name: string) {
    this.kind = kind
    this.namespace = namespace
    this.name = name
  }
}

/** One subject of one binding. */
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

  /** The role has other rules now. */
  invalidate(): void {
    this.#decisions = []
    this.list.invalidate()
  }

  /** What a rule of the role decides. Made once: most requests are allowed by a few rules. */
  decision(ruleIndex: number, subjectIndex: number): Decision {
    if (subjectIndex !== this.subjectIndex) return this.#decide(ruleIndex, subjectIndex)
    let decision = this.#decisions[ruleIndex]
    if (decision === undefined) {
      decision = this.#decide(ruleIndex, subjectIndex)
      this.#decisions[ruleIndex] = decision
    }
    return decision
  }

  #decide(ruleIndex: number, subjectIndex: number): Decision {
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

/** Above this many grants a table pays. */
const indexThreshold = 16
/** A rule that says more combinations than this is gone through instead. */
const maxIndexedCombinations = 64

export class GrantList {
  readonly grants = new Set<Grant>()
  #table: GrantIndex | undefined

  add(grant: Grant): void {
    this.grants.add(grant)
    this.#table?.add(grant)
  }

  remove(grant: Grant): void {
    if (this.grants.delete(grant)) this.#table = undefined
  }

  invalidate(): void {
    this.#table = undefined
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
    this.#table ??= new GrantIndex(this.grants)
    return this.#table.find(attributes)
  }
}

/** Rules by verb, group, resource and name, each combination filed once: the first that allows is as good as any other. */
class GrantIndex {
  readonly #exact = new Map<string, Match>()
  /** Paths, and rules with too many combinations. */
  readonly #wide: Match[] = []

  constructor(grants: Iterable<Grant>) {
    for (const grant of grants) this.add(grant)
  }

  add(grant: Grant): void {
    for (const [ruleIndex, rule] of (grant.role.rules ?? []).entries()) this.#file(rule, { grant, ruleIndex })
  }

  find(attributes: Attributes): Match | undefined {
    if (attributes.isResource) {
      const { verb, group, resource, subresource, name } = attributes
      const found =
        this.#at(verb, group, resource, subresource, name) ??
        this.#at('*', group, resource, subresource, name) ??
        this.#at(verb, '*', resource, subresource, name) ??
        this.#at('*', '*', resource, subresource, name)
      if (found !== undefined) return found
    }
    for (const match of this.#wide) {
      if (ruleAllows(match.grant.role.rules![match.ruleIndex]!, attributes)) return match
    }
    return undefined
  }

  #at(verb: string, group: string, resource: string, subresource: string, name: string): Match | undefined {
    const begin = `${verb}\0${group}\0`
    if (subresource === '') return this.#named(begin + resource, name) ?? this.#named(`${begin}*`, name)
    return (
      this.#named(`${begin}${resource}/${subresource}`, name) ??
      this.#named(`${begin}*/${subresource}`, name) ??
      this.#named(`${begin}*`, name)
    )
  }

  #named(key: string, name: string): Match | undefined {
    return this.#exact.get(key) ?? this.#exact.get(`${key}\0${name}`)
  }

  #file(rule: PolicyRule, match: Match): void {
    const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
    const combinations = verbs.length * apiGroups.length * resources.length * Math.max(1, resourceNames.length)
    if (nonResourceURLs.length > 0 || combinations > maxIndexedCombinations) {
      this.#wide.push(match)
      return
    }
    for (const verb of verbs) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          const key = `${verb}\0${group}\0${resource}`
          if (resourceNames.length === 0) this.#keep(key, match)
          for (const name of resourceNames) this.#keep(`${key}\0${name}`, match)
        }
      }
    }
  }

  #keep(key: string, match: Match): void {
    if (!this.#exact.has(key)) this.#exact.set(key, match)
  }
}
