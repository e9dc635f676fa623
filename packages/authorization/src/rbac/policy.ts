/**
 * Roles and bindings, indexed by scope and subject. A decision looks up the user and each group in the cluster scope and in
 * the namespace; bindings of other subjects are never visited.
 *
 *     put ClusterRole reader; put ClusterRoleBinding b: reader to Group dev    members of dev may read everywhere
 *     put ClusterRole reader without rules                                     the grant remains and allows nothing
 *     remove ClusterRole reader                                                decisions report the missing role
 *     put ClusterRole reader                                                   members of dev may read again
 */

import { type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import type { Attributes, Decision, ObjectEventHandler, PolicyRule, StoredObject, Subject } from '../interfaces.ts'
import { missingRoleMessage } from './describe.ts'
import { Grant, GrantList, type Match, RoleEntry } from './grant-index.ts'
import { type BindingObject, bindingKinds, nameOf, readBinding, readRole, roleKinds } from './objects.ts'

/** A rule that applies to a user, and its origin. */
export interface ResolvedRule {
  readonly rule: PolicyRule
  readonly ruleIndex: number
  readonly binding: BindingObject
  readonly role: RoleEntry
  readonly subject: Subject
}

/** The grants of the cluster scope or of one namespace, by principal. */
interface Scope {
  readonly users: Map<string, GrantList>
  readonly groups: Map<string, GrantList>
}

/** The RBAC objects that decisions are based on. Changes take effect with the next decision. */
export class RbacPolicy {
  /** API group of roles and bindings. */
  readonly group: string
  readonly #cluster = newScope()
  readonly #namespaces = new Map<string, Scope>()
  readonly #roles = new Map<string, RoleEntry>()
  readonly #bindings = new Map<string, { readonly binding: BindingObject; readonly grants: readonly Grant[] }>()
  /** Number of referenced roles that do not exist. */
  #missing = 0

  constructor(options: { readonly objects?: Iterable<StoredObject>; readonly profile?: NamingProfile } = {}) {
    this.group = `rbac.authorization.${(options.profile ?? stockProfile).apiDomain}`
    for (const object of options.objects ?? []) this.put(object)
  }

  /** Adds or replaces a role or binding; ignores other kinds. */
  put(object: StoredObject): void {
    if (!isStoredObject(object) || !this.#isRbacObject(object)) return
    if (roleKinds.includes(object.kind)) {
      const { rules, ...name } = readRole(object)
      this.#setRules(this.#roleEntry(name.kind, name.namespace, name.name), rules)
    } else if (bindingKinds.includes(object.kind)) {
      this.#removeBinding(keyOf(nameOf(object)))
      this.#addBinding(readBinding(object))
    }
  }

  /** Removes a role or binding; ignores other kinds. */
  remove(object: StoredObject): void {
    if (!this.#isRbacObject(object)) return
    const name = nameOf(object)
    if (bindingKinds.includes(object.kind)) this.#removeBinding(keyOf(name))
    else {
      const role = this.#roles.get(keyOf(name))
      if (role !== undefined) this.#setRules(role, undefined)
    }
  }

  /** Returns an event handler for the objects of one kind. */
  handlerFor(kind: string): ObjectEventHandler {
    return {
      put: (object) => this.put(kind === object.kind ? object : { ...object, kind }),
      remove: (object) => this.remove(kind === object.kind ? object : { ...object, kind }),
      clear: () => this.#clear(kind),
    }
  }

  #clear(kind: string): void {
    for (const [key, { binding }] of this.#bindings) if (binding.kind === kind) this.#removeBinding(key)
    for (const role of [...this.#roles.values()]) if (role.kind === kind) this.#setRules(role, undefined)
  }

  /** All bindings with their roles: cluster role bindings first, then by namespace and name. */
  bindings(): readonly { readonly binding: BindingObject; readonly role: RoleEntry }[] {
    return [...this.#bindings.values()]
      .map(({ binding }) => ({ binding, role: this.#roleOf(binding) }))
      .sort((a, b) => compareNames(a.binding, b.binding))
  }

  /** The rules of a role; undefined when it does not exist. */
  rulesOf(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(keyOf({ kind, namespace: kind === 'Role' ? namespace : '', name }))?.rules
  }

  /** The decision of a grant that allows the request; undefined when there is none. */
  find(attributes: Attributes): Decision | undefined {
    const { user, namespace } = attributes
    const match = findIn(this.#cluster, attributes) ?? findIn(this.#namespaces.get(namespace), attributes)
    if (match === undefined) return undefined
    return match.grant.decision(match.ruleIndex, firstSubjectIndex(match.grant, user))
  }

  /**
   * Errors about missing roles that the bindings of a user reference.
   *
   * @param resource what the errors name. Default: the kind of each role
   */
  errorsFor(user: UserInfo, namespace: string, resource?: string): readonly string[] {
    if (this.#missing === 0) return []
    return this.#grantsOf(user, namespace)
      .filter(({ role }) => role.rules === undefined)
      .map(({ role }) => missingRoleMessage(role, this.group, resource))
  }

  /** All rules of a user: cluster scope first, then the namespace, each ordered by binding name. */
  rulesFor(user: UserInfo, namespace: string): readonly ResolvedRule[] {
    return this.#grantsOf(user, namespace).flatMap((grant) => {
      const { binding, role } = grant
      const subject = binding.subjects[firstSubjectIndex(grant, user)]!
      return (role.rules ?? []).map((rule, ruleIndex) => ({ rule, ruleIndex, binding, role, subject }))
    })
  }

  /** One grant per binding that matches the user. */
  #grantsOf(user: UserInfo, namespace: string): Grant[] {
    const found = new Map<BindingObject, Grant>()
    for (const scope of [this.#cluster, this.#namespaces.get(namespace)]) {
      if (scope === undefined) continue
      const lists = [scope.users.get(user.username), ...user.groups.map((name) => scope.groups.get(name))]
      for (const list of lists) for (const grant of list?.grants ?? []) found.set(grant.binding, grant)
    }
    return [...found.values()].sort((a, b) => compareNames(a.binding, b.binding))
  }

  #isRbacObject({ apiVersion, kind, metadata }: StoredObject): boolean {
    if (typeof apiVersion !== 'string' || !apiVersion.startsWith(`${this.group}/`)) return false
    // A namespaced object without a namespace must not apply to the cluster.
    return (kind !== 'Role' && kind !== 'RoleBinding') || (metadata?.namespace ?? '') !== ''
  }

  #roleEntry(kind: string, namespace: string, name: string): RoleEntry {
    const key = keyOf({ kind, namespace, name })
    let role = this.#roles.get(key)
    if (role === undefined) {
      role = new RoleEntry(kind, namespace, name)
      this.#roles.set(key, role)
    }
    return role
  }

  #roleOf({ roleRef, namespace }: BindingObject): RoleEntry {
    return this.#roleEntry(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name)
  }

  #setRules(role: RoleEntry, rules: readonly PolicyRule[] | undefined): void {
    const wasMissing = isMissing(role)
    role.rules = rules
    this.#updateMissing(role, wasMissing)
    for (const grant of role.grants) grant.invalidate()
    this.#removeUnused(role)
  }

  #updateMissing(role: RoleEntry, wasMissing: boolean): void {
    if (isMissing(role) !== wasMissing) this.#missing += wasMissing ? -1 : 1
  }

  #removeUnused(role: RoleEntry): void {
    if (role.rules === undefined && role.grants.size === 0) this.#roles.delete(keyOf(role))
  }

  #addBinding(binding: BindingObject): void {
    const role = this.#roleOf(binding)
    const wasMissing = isMissing(role)
    const grants: Grant[] = []
    const seen = new Set<GrantList>()
    for (const [i, subject] of binding.subjects.entries()) {
      const list = this.#listOf(binding, subject)
      if (list === undefined || seen.has(list)) continue
      seen.add(list)
      const grant = new Grant(binding, i, role, list)
      role.grants.add(grant)
      list.add(grant)
      grants.push(grant)
    }
    this.#updateMissing(role, wasMissing)
    this.#removeUnused(role)
    this.#bindings.set(keyOf(binding), { binding, grants })
  }

  #removeBinding(key: string): void {
    const entry = this.#bindings.get(key)
    if (entry === undefined) return
    this.#bindings.delete(key)
    for (const grant of entry.grants) {
      const { role } = grant
      const wasMissing = isMissing(role)
      role.grants.delete(grant)
      this.#updateMissing(role, wasMissing)
      this.#removeUnused(role)
      grant.list.remove(grant)
      if (grant.list.grants.size === 0) this.#removeEmptyList(entry.binding, grant)
    }
  }

  #removeEmptyList({ kind, namespace, subjects }: BindingObject, grant: Grant): void {
    const scope = kind === 'ClusterRoleBinding' ? this.#cluster : this.#namespaces.get(namespace)
    const subject = subjects[grant.subjectIndex]!
    const name = principalOf(subject, namespace)
    if (scope === undefined || name === undefined) return
    const lists = subject.kind === 'Group' ? scope.groups : scope.users
    lists.delete(name)
    if (scope !== this.#cluster && scope.users.size + scope.groups.size === 0) this.#namespaces.delete(namespace)
  }

  #listOf(binding: BindingObject, subject: Subject): GrantList | undefined {
    const name = principalOf(subject, binding.namespace)
    if (name === undefined) return undefined
    const scope = binding.kind === 'ClusterRoleBinding' ? this.#cluster : this.#scope(binding.namespace)
    const lists = subject.kind === 'Group' ? scope.groups : scope.users
    let list = lists.get(name)
    if (list === undefined) {
      list = new GrantList()
      lists.set(name, list)
    }
    return list
  }

  #scope(namespace: string): Scope {
    let scope = this.#namespaces.get(namespace)
    if (scope === undefined) {
      scope = newScope()
      this.#namespaces.set(namespace, scope)
    }
    return scope
  }
}

/** Returns the user or group name of a subject; undefined when the subject matches no user. */
export function principalOf({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return name
  if (kind !== 'ServiceAccount') return undefined
  const home = namespace ?? bindingNamespace
  return home === '' ? undefined : `system:serviceaccount:${home}:${name}`
}

/** Whether a subject of a binding in `bindingNamespace` matches a user. */
export function subjectMatches(subject: Subject, bindingNamespace: string, user: UserInfo): boolean {
  const holder = principalOf(subject, bindingNamespace)
  if (holder === undefined) return false
  return subject.kind === 'Group' ? user.groups.includes(holder) : user.username === holder
}

/** Returns the index of the first subject that matches the user, which reasons name. */
function firstSubjectIndex({ binding, subjectIndex }: Grant, user: UserInfo): number {
  for (let i = 0; i < subjectIndex; i++) if (subjectMatches(binding.subjects[i]!, binding.namespace, user)) return i
  return subjectIndex
}

function findIn(scope: Scope | undefined, attributes: Attributes): Match | undefined {
  if (scope === undefined) return undefined
  const { username, groups } = attributes.user
  const own = scope.users.get(username)?.find(attributes)
  if (own !== undefined) return own
  for (const group of groups) {
    const match = scope.groups.get(group)?.find(attributes)
    if (match !== undefined) return match
  }
  return undefined
}

/** Malformed objects grant nothing. */
export function isStoredObject(value: unknown): value is StoredObject {
  const metadata: unknown = (value as Partial<StoredObject> | null | undefined)?.metadata
  return typeof metadata === 'object' && metadata !== null
}

function isMissing({ rules, grants }: RoleEntry): boolean {
  return rules === undefined && grants.size > 0
}

function newScope(): Scope {
  return { users: new Map(), groups: new Map() }
}

function keyOf({ kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string }): string {
  return `${kind}/${namespace}/${name}`
}

function compareNames(a: BindingObject, b: BindingObject): number {
  return compareCodePoints(a.namespace, b.namespace) || compareCodePoints(a.name, b.name)
}
