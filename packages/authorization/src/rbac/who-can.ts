/** Questions the other way round: who may do something, and what decides about it. Answered from roles and bindings alone. */

import type { UserInfo } from '@krmkit/meta'
import type { Attributes, PolicyRule, Subject } from '../interfaces.ts'
import { describeSubject, missingRoleMessage } from './describe.ts'
import type { BindingObject } from './objects.ts'
import { type RbacPolicy, subjectMatches } from './policy.ts'
import { ruleAllows } from './rule-match.ts'

/** A binding that allows something, and the rule of its role by which it does. */
export interface AllowingBinding {
  readonly binding: BindingObject
  readonly rule: PolicyRule
  /** Position of `rule` in the role, from 0. */
  readonly ruleIndex: number
}

/** Somebody who may do something. */
export interface AllowedSubject extends AllowingBinding {
  readonly subject: Subject
}

type AccessQuery = Omit<Attributes, 'user'>

const noUser: UserInfo = { username: '', groups: [] }

/**
 * Everybody whom a binding allows to do something, by binding; a subject stands once for each binding. An empty namespace asks about the
 * whole cluster, where bindings of namespaces count for nothing.
 */
export function whoCan(policy: RbacPolicy, question: AccessQuery): readonly AllowedSubject[] {
  return allowingBindings(policy, question).flatMap((found) => found.binding.subjects.map((subject) => ({ ...found, subject })))
}

/** How a user comes to a right, or what it lacks. */
export interface AccessExplanation {
  readonly allowed: boolean
  /** Every binding that allows it to this user. */
  readonly grants: readonly AllowedSubject[]
  /** Bindings that would allow it, to others. */
  readonly others: readonly AllowedSubject[]
  /** Bindings of this user whose roles do not allow it, or do not exist. */
  readonly insufficient: readonly { readonly binding: BindingObject; readonly subject: Subject; readonly why: string }[]
}

export function explainAccess(policy: RbacPolicy, attributes: Attributes): AccessExplanation {
  const { user, namespace } = attributes
  const holders = whoCan(policy, attributes)
  const grants = holders.filter(({ binding, subject }) => subjectMatches(subject, binding.namespace, user))
  const granting = new Set(grants.map(({ binding }) => binding))
  const insufficient = policy
    .bindings()
    .filter(({ binding }) => isInScope(binding, namespace) && !granting.has(binding))
    .flatMap(({ binding, role }) => {
      const subject = binding.subjects.find((each) => subjectMatches(each, binding.namespace, user))
      if (subject === undefined) return []
      const why = role.rules === undefined ? missingRoleMessage(role, policy.group) : 'no rule of the role allows it'
      return [{ binding, subject, why }]
    })
  const others = holders.filter(({ binding }) => !granting.has(binding))
  return { allowed: grants.length > 0, grants, others, insufficient }
}

function allowingBindings(policy: RbacPolicy, question: AccessQuery): readonly AllowingBinding[] {
  const attributes: Attributes = { ...question, user: noUser }
  return policy.bindings().flatMap(({ binding, role }) => {
    if (!isInScope(binding, question.namespace)) return []
    const rules = role.rules ?? []
    const ruleIndex = rules.findIndex((rule) => ruleAllows(rule, attributes))
    return ruleIndex === -1 ? [] : [{ binding, rule: rules[ruleIndex]!, ruleIndex }]
  })
}

function isInScope({ kind, namespace }: BindingObject, asked: string): boolean {
  return kind === 'ClusterRoleBinding' || (asked !== '' && namespace === asked)
}

/** `User "jane"`, `ServiceAccount "name/namespace"` */
export function formatSubject({ subject, binding }: Pick<AllowedSubject, 'subject' | 'binding'>): string {
  return describeSubject(subject, binding.namespace)
}
