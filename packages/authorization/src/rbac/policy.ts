/**
 * Roles and bindings, filed by who is given what where. A decision looks up the user and each of the user's groups, once for the
 * cluster and once for the namespace; what others are given is not touched.
 *
 *     put ClusterRole reader; put ClusterRoleBinding b: reader to Group dev    a member of dev may read everywhere
 *     put ClusterRole reader without rules                                     the grant stays and allows nothing
 *     remove ClusterRole reader                                                decisions tell that it is missing
 *     put ClusterRole reader                                                   members of dev may read again
 */

import { compareCodePoints, type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import type { Attributes, Decision, ObjectEventHandler, PolicyRule, StoredObject, Subject } from '../interfaces.ts'
import { missingRoleMessage } from './describe.ts'
import { Grant, GrantList, type Match, RoleEntry } from './grant-index.ts'
import { type BindingObject, bindingKinds, nameOf, readBinding, readRole, roleKinds } from './objects.ts'

/** One rule that a user has, and where from. */
export interface ResolvedRule {
  readonly rule: PolicyRule
  readonly ruleIndex: number
  readonly binding: BindingObject
  readonly role: RoleEntry
  readonly subject: Subject
}

/** Who holds what in the cluster, or in one namespace. */
interface Scope {
  readonly users: Map<string, GrantList>
  readonly groups: Map<string, GrantList>
}

export class RbacPolicy {
  readonly group: string
  readonly #cluster = newScope()
  readonly #namespaces = new Map<string, Scope>()
  readonly #roles = new Map<string, RoleEntry>()
  readonly #bindings = new Map<string, { readonly binding: BindingObject; readonly grants: readonly Grant[] }>()
  /** Roles that are named and do not exist. */
  #missing = 0

  constructor(options: { readonly objects?: Iterable<StoredObject>; readonly profile?: NamingProfile } = {}) {
    this.group = `rbac.authorization.${(options.profile ?? stockProfile).apiDomain}`
    for (const object of options.objects ?? []) this.put(object)
  }

  /** Takes in a role or binding, in place of the one of that name. Objects of other kinds are passed over. */
  put(object: StoredObject): void {
    if (!this.#isOurs(object)) return
    if (roleKinds.includes(object.kind)) {
      const { rules, ...name } = readRole(object)
      this.#setRules(this.#slot(name.kind, name.namespace, name.name), rules)
    } else if (bindingKinds.includes(object.kind)) {
      this.#removeBinding(keyOf(nameOf(object)))
      this.#addBinding(readBinding(object))
    }
  }

  remove(object: StoredObject): void {
    if (!this.#isOurs(object)) return
    const name = nameOf(object)
    if (bindingKinds.includes(object.kind)) this.#removeBinding(keyOf(name))
    else {
      const slot = this.#roles.get(keyOf(name))
      if (slot !== undefined) this.#setRules(slot, undefined)
    }
  }

  /** Takes in objects of one kind; clearing forgets those alone. */
  handlerFor(kind: string): ObjectEventHandler {
    return {
      put: (object) => this.put(kind === object.kind ? object : { ...object, kind }),
      remove: (object) => this.remove(kind === object.kind ? object : { ...object, kind }),
      clear: () => this.#clear(kind),
    }
  }

  #clear(kind: string): void {
    for (const [key, { binding }] of this.#bindings) if (binding.kind === kind) this.#removeBinding(key)
    for (const slot of [...this.#roles.values()]) if (slot.kind === kind) this.#setRules(slot, undefined)
  }

  /** The bindings there are, those of the cluster first, by namespace and name. */
  bindings(): readonly { readonly binding: BindingObject; readonly role: RoleEntry }[] {
    return [...this.#bindings.values()]
      .map(({ binding }) => ({ binding, role: this.#slotOf(binding) }))
      .sort((a, b) => compareNames(a.binding, b.binding))
  }

  /** Rules of a role; absent: there is none. */
  rulesOf(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(keyOf({ kind, namespace: kind === 'Role' ? namespace : '', name }))?.rules
  }

  /** The decision of the first grant that allows a request. */
  find(attributes: Attributes): Decision | undefined {
    const { user, namespace } = attributes
    const match = findIn(this.#cluster, attributes) ?? findIn(this.#namespaces.get(namespace), attributes)
    if (match === undefined) return undefined
    return match.grant.decision(match.ruleIndex, firstSubjectIndex(match.grant, user))
  }

  /** Errors that a user's bindings give rise to: roles that are named and missing. Empty at no cost while there are none. */
  errorsFor(user: UserInfo, namespace: string): readonly string[] {
    if (this.#missing === 0) return []
    return this.#grantsOf(user, namespace)
      .filter(({ role }) => role.rules === undefined)
      .map(({ role }) => missingRoleMessage(role, this.group))
  }

  /** Every rule of a user: those of the cluster first, by the names of the bindings, then those of the namespace. */
  rulesFor(user: UserInfo, namespace: string): readonly ResolvedRule[] {
    return this.#grantsOf(user, namespace).flatMap((grant) => {
      const { binding, role } = grant
      const subject = binding.subjects[firstSubjectIndex(grant, user)]!
      return (role.rules ?? []).map((rule, ruleIndex) => ({ rule, ruleIndex, binding, role, subject }))
    })
  }

  /** One grant of each binding that concerns a user. */
  #grantsOf(user: UserInfo, namespace: string): Grant[] {
    const found = new Map<BindingObject, Grant>()
    for (const scope of [this.#cluster, this.#namespaces.get(namespace)]) {
      if (scope === undefined) continue
      const lists = [scope.users.get(user.username), ...user.groups.map((name) => scope.groups.get(name))]
      for (const list of lists) for (const grant of list?.grants ?? []) found.set(grant.binding, grant)
    }
    return [...found.values()].sort((a, b) => compareNames(a.binding, b.binding))
  }

  #isOurs({ apiVersion, kind, metadata }: StoredObject): boolean {
    if (typeof apiVersion !== 'string' || !apiVersion.startsWith(`${this.group}/`)) return false
    // What belongs to no namespace must not become what belongs to all.
    return (kind !== 'Role' && kind !== 'RoleBinding') || (metadata?.namespace ?? '') !== ''
  }

  #slot(kind: string, namespace: string, name: string): RoleEntry {
    const key = keyOf({ kind, namespace, name })
    let slot = this.#roles.get(key)
    if (slot === undefined) {
      slot = new RoleEntry(kind, namespace, name)
      this.#roles.set(key, slot)
    }
    return slot
  }

  #slotOf({ roleRef, namespace }: BindingObject): RoleEntry {
    return this.#slot(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name)
  }

  #setRules(slot: RoleEntry, rules: readonly PolicyRule[] | undefined): void {
    const wasMissing = isMissing(slot)
    slot.rules = rules
    this.#count(slot, wasMissing)
    for (const grant of slot.grants) grant.invalidate()
    this.#drop(slot)
  }

  #count(slot: RoleEntry, wasMissing: boolean): void {
    if (isMissing(slot) !== wasMissing) this.#missing += wasMissing ? -1 : 1
  }

  #drop(slot: RoleEntry): void {
    if (slot.rules === undefined && slot.grants.size === 0) this.#roles.delete(keyOf(slot))
  }

  #addBinding(binding: BindingObject): void {
    // A role of a namespace means nothing to the cluster.
    const role = this.#slotOf(binding)
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
    this.#count(role, wasMissing)
    this.#drop(role)
    this.#bindings.set(keyOf(binding), { binding, grants })
  }

  #removeBinding(key: string): void {
    const known = this.#bindings.get(key)
    if (known === undefined) return
    this.#bindings.delete(key)
    for (const grant of known.grants) {
      const { role } = grant
      const wasMissing = isMissing(role)
      role.grants.delete(grant)
      this.#count(role, wasMissing)
      this.#drop(role)
      grant.list.remove(grant)
      if (grant.list.grants.size === 0) this.#dropList(known.binding, grant)
    }
  }

  #dropList({ kind, namespace, subjects }: BindingObject, grant: Grant): void {
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

/** The user or group that a subject means; absent: nobody. */
export function principalOf({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return name
  if (kind !== 'ServiceAccount') return undefined
  const home = namespace ?? bindingNamespace
  return home === '' ? undefined : `system:serviceaccount:${home}:${name}`
}

export function subjectMatches(subject: Subject, bindingNamespace: string, user: UserInfo): boolean {
  const holder = principalOf(subject, bindingNamespace)
  if (holder === undefined) return false
  return subject.kind === 'Group' ? user.groups.includes(holder) : user.username === holder
}

/** Position of the first subject that a user is: reasons name that one. */
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
