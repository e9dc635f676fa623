import { createRbacAuthorizer, explainAccess, formatSubject, type StoredObject, whoCan } from '@krmkit/authorization'
import type { JsonObject } from '@krmkit/meta'
import { bindingText, roleText, ruleText } from '../../packages/cli/src/access/access-text.ts'
import type { Cluster } from './cluster.ts'
import { findResource, readResources } from './discovery.ts'
import { TerminalError } from './terminal/terminal-error.ts'

/** Who may do something, and why: the roles and bindings of the cluster, explained. */

export interface AccessQuestion {
  readonly user: string
  readonly groups: readonly string[]
  readonly verb: string
  /** `pods`, `deploy`, `pods/log`, `/healthz` */
  readonly resource: string
  /** Empty: the whole cluster. */
  readonly namespace: string
  /** Empty: any. */
  readonly name: string
}

export interface AccessAnswer {
  readonly allowed: boolean
  /** Bindings that allow it, or that apply to the user and do not. */
  readonly reasons: readonly string[]
  /** All subjects that are allowed, with their binding and role. */
  readonly holders: readonly string[]
}

const root = '/apis/rbac.authorization.k8s.io/v1'
const kinds: Readonly<Record<string, string>> = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
}

/** Explains access by the roles of the cluster. @throws TerminalError for unknown resources and an empty verb */
export async function answerAccess(cluster: Cluster, question: AccessQuestion): Promise<AccessAnswer> {
  const { policy } = createRbacAuthorizer({ objects: await rbacObjects(cluster) })
  const attributes = await attributesOf(cluster, question)
  const groups = [...new Set([...question.groups, 'system:authenticated'])]
  const { allowed, grants, insufficient } = explainAccess(policy, { ...attributes, user: { username: question.user, groups } })
  const isMaster = groups.includes('system:masters')
  const granted = grants.map(
    ({ binding, rule, ruleIndex }) => `${bindingText(binding)} gives ${roleText(binding)}; ${ruleText(rule, ruleIndex)}`,
  )
  const refused = insufficient.map(({ binding, why }) => `${bindingText(binding)} of ${roleText(binding)}: ${why}`)
  return {
    allowed: allowed || isMaster,
    reasons: [
      ...(isMaster ? ['The group system:masters is allowed everything.'] : []),
      ...(allowed || isMaster ? granted : refused),
    ],
    holders: whoCan(policy, attributes).map(
      (holder) => `${formatSubject(holder)} by ${bindingText(holder.binding)} of ${roleText(holder.binding)}`,
    ),
  }
}

async function rbacObjects(cluster: Cluster): Promise<StoredObject[]> {
  const objects: JsonObject[] = []
  for (const [resource, kind] of Object.entries(kinds)) {
    const { items } = await cluster.read<{ items: JsonObject[] }>(`${root}/${resource}`)
    objects.push(...items.map((item) => ({ ...item, apiVersion: 'rbac.authorization.k8s.io/v1', kind })))
  }
  return objects as unknown as StoredObject[]
}

async function attributesOf(cluster: Cluster, { verb, resource: text, namespace, name }: AccessQuestion) {
  const nothing = { verb, group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
  if (verb === '') throw new TerminalError('the verb is missing')
  if (text.startsWith('/')) return { ...nothing, isResource: false, path: text }
  const [type = '', subresource = ''] = text.split('/', 2)
  const found = type === '*' ? { group: '*', name: '*', namespaced: true } : findResource(await readResources(cluster), type)
  if (found === undefined) throw new TerminalError(`the server doesn't have a resource type "${type}"`)
  const { group, name: resource, namespaced } = found
  return { ...nothing, isResource: true, path: '', group, resource, subresource, namespace: namespaced ? namespace : '', name }
}
