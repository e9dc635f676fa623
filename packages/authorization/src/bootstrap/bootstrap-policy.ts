/** The default roles and bindings of a server, as objects. */

import { type ApiObject, createFeatures, type Features, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { PolicyRule, Subject } from '../interfaces.ts'
import { type ClusterRoleData, clusterRoleData } from './cluster-roles.ts'
import { controllerConditions, controllerRoleData } from './controller-roles.ts'
import { type NamespaceRoleData, namespaceRoleData } from './namespace-roles.ts'
import { applies, expandRules, type RoleSettings } from './rule-shorthand.ts'

export interface BootstrapRole extends ApiObject {
  rules: PolicyRule[] | null
  aggregationRule?: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] }
}

export interface BootstrapBinding extends ApiObject {
  roleRef: { apiGroup: string; kind: string; name: string }
  subjects?: Subject[]
}

export interface BootstrapPolicy {
  readonly clusterRoles: readonly BootstrapRole[]
  readonly clusterRoleBindings: readonly BootstrapBinding[]
  readonly roles: readonly BootstrapRole[]
  readonly roleBindings: readonly BootstrapBinding[]
}

export interface BootstrapPolicyOptions {
  /** Features whose release and gates determine the rules and roles. Default: those of the default release. */
  readonly features?: Features
}

/**
 * Creates the default roles and bindings of the release of the features. Every call returns new objects.
 *
 * @example
 * ```ts
 * import { bootstrapPolicy } from '@krmkit/authorization/bootstrap'
 *
 * const { clusterRoles } = bootstrapPolicy()
 * clusterRoles.find(({ metadata }) => metadata.name === 'cluster-admin')?.rules
 * // [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, { nonResourceURLs: ['*'], verbs: ['*'] }]
 * ```
 */
export function bootstrapPolicy(
  profile: NamingProfile = stockProfile,
  { features = createFeatures() }: BootstrapPolicyOptions = {},
): BootstrapPolicy {
  const builder = new BootstrapObjectBuilder({ profile, features })
  const controllers = Object.entries(controllerRoleData).map(([account, rules]): ClusterRoleData => {
    return { ...controllerConditions.get(account), name: `system:controller:${account}`, rules, accounts: account }
  })
  const cluster = [...clusterRoleData, ...controllers].filter((data) => applies(data, features))
  return {
    clusterRoles: cluster.map((data) => builder.clusterRole(data)),
    clusterRoleBindings: cluster.filter(isBound).map((data) => builder.clusterRoleBinding(data)),
    roles: namespaceRoleData.map((data) => builder.role(data)),
    roleBindings: namespaceRoleData.map((data) => builder.roleBinding(data)),
  }
}

function isBound({ users, groups, accounts, bound }: ClusterRoleData): boolean {
  return users !== undefined || groups !== undefined || accounts !== undefined || bound === true
}

class BootstrapObjectBuilder {
  readonly #settings: RoleSettings
  readonly #profile: NamingProfile
  readonly #group: string

  constructor(settings: RoleSettings) {
    const { profile } = settings
    this.#settings = settings
    this.#profile = profile
    this.#group = `rbac.authorization.${profile.apiDomain}`
  }

  clusterRole({ name, rules, aggregatesTo, isAggregated }: ClusterRoleData): BootstrapRole {
    const labels = aggregatesTo === undefined ? {} : { [this.#aggregateTo(aggregatesTo)]: 'true' }
    return {
      ...this.#object('ClusterRole', this.#named(name), labels),
      ...(isAggregated === true
        ? { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [this.#aggregateTo(name)]: 'true' } }] } }
        : {}),
      rules: rules === undefined ? null : expandRules(rules, this.#settings),
    }
  }

  clusterRoleBinding(data: ClusterRoleData): BootstrapBinding {
    const name = this.#named(data.name)
    const subjects = this.#subjects(data)
    return {
      ...this.#object('ClusterRoleBinding', name),
      roleRef: { apiGroup: this.#group, kind: 'ClusterRole', name },
      ...(subjects.length === 0 ? {} : { subjects }),
    }
  }

  role({ namespace, name, rules }: NamespaceRoleData): BootstrapRole {
    const object = this.#object('Role', name)
    object.metadata.namespace = this.#namespace(namespace)
    return { ...object, rules: expandRules(rules, this.#settings) }
  }

  roleBinding(data: NamespaceRoleData): BootstrapBinding {
    const object = this.#object('RoleBinding', data.binding ?? data.name)
    object.metadata.namespace = this.#namespace(data.namespace)
    return { ...object, roleRef: { apiGroup: this.#group, kind: 'Role', name: data.name }, subjects: this.#subjects(data) }
  }

  #object(kind: string, name: string, labels: Readonly<Record<string, string>> = {}): ApiObject {
    const { domain } = this.#profile
    return {
      apiVersion: `${this.#group}/v1`,
      kind,
      metadata: {
        name,
        labels: { [`${domain}/bootstrapping`]: 'rbac-defaults', ...labels },
        annotations: { [autoUpdateAnnotation(this.#profile)]: 'true' },
      },
    }
  }

  #subjects({ users, groups, accounts, laterAccounts }: Partial<ClusterRoleData & NamespaceRoleData>): Subject[] {
    const { features } = this.#settings
    const later =
      laterAccounts !== undefined && features.release.atLeast(laterAccounts.since) ? laterAccounts.accounts : undefined
    const apiGroup = this.#group
    return [
      ...splitWords(users).map((name) => ({ apiGroup, kind: 'User', name })),
      ...splitWords(groups).map((name) => ({ apiGroup, kind: 'Group', name })),
      ...[...splitWords(accounts), ...splitWords(later)].map((name) => ({
        kind: 'ServiceAccount',
        name,
        namespace: this.#profile.systemNamespace,
      })),
    ]
  }

  #aggregateTo(role: string): string {
    return `${this.#group}/aggregate-to-${role}`
  }

  #named(name: string): string {
    return name.replaceAll('<api>', this.#profile.apiDomain)
  }

  #namespace(which: 'system' | 'public'): string {
    return which === 'system' ? this.#profile.systemNamespace : this.#profile.publicNamespace
  }
}

/** The annotation that protects an object from reconciliation when its value is `false`. */
export function autoUpdateAnnotation({ domain }: NamingProfile): string {
  return `rbac.authorization.${domain}/autoupdate`
}

function splitWords(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(' ')
}
