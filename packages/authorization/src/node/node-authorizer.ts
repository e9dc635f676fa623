/**
 * The Node authorizer: a kubelet may read the objects that its pods reference and access its own Lease, CSINode and Node;
 * fixed rules cover the rest. The NodeRestriction admission plugin validates the contents of writes.
 *
 * @see API protocol specification, 5.10 (NodeRestriction)
 */

import { createFeatures, type Features, type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { nodeRules } from '../bootstrap/cluster-roles.ts'
import type { RoleSettings } from '../bootstrap/rule-shorthand.ts'
import type { Attributes, Decision, ObjectInformer, PolicyRule, SyncAuthorizer } from '../interfaces.ts'
import { ruleAllows } from '../rbac/rule-match.ts'
import { NodeGraph } from './graph.ts'
import type { ReferredKind } from './references.ts'

export interface NodeAuthorizerOptions {
  readonly graph: NodeGraph
  readonly profile?: NamingProfile
  /** Rules for resources that are not restricted per object. Default: those of the role `system:node`. */
  readonly rules?: readonly PolicyRule[]
  /** Features whose gates determine the permissions of kubelets. Default: those of the newest release. */
  readonly features?: Features
  /** Called before every decision about a node, to update `graph`. */
  readonly sync?: () => void
}

const nodeUserPrefix = 'system:node:'
const nodesGroup = 'system:nodes'
const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })
const allowed: Decision = Object.freeze({ decision: 'allow', reason: '', trace: Object.freeze({ authorizer: 'Node' }) })

/** Returns the node name of a user; empty for a node without a name, undefined for users that are not nodes. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  return username.startsWith(nodeUserPrefix) && groups.includes(nodesGroup) ? username.slice(nodeUserPrefix.length) : undefined
}

/**
 * Creates an authorizer for requests of nodes, based on a graph of the objects that their pods reference. Has no opinion on
 * other users.
 */
export function createNodeAuthorizer(options: NodeAuthorizerOptions): SyncAuthorizer {
  const { graph, profile = stockProfile, features = createFeatures(), sync = () => undefined } = options
  const { rules = nodeRules({ profile, features }) } = options
  const authorizers = new Map(Object.entries(resourceAuthorizers(graph, { profile, features })))
  return {
    authorize(attributes) {
      const node = nodeNameOf(attributes.user)
      if (node === undefined) return noOpinion
      if (node === '') return refused(`unknown node for user "${attributes.user.username}"`)
      sync()
      if (attributes.isResource) {
        const authorizeResource = authorizers.get(`${attributes.group}/${attributes.resource}`)
        if (authorizeResource !== undefined) return authorizeResource(node, attributes)
      }
      return rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion
    },
    rulesFor(user: UserInfo) {
      const isNode = nodeNameOf(user) !== undefined
      const errors = isNode ? ['node authorizer does not support user rule resolution'] : []
      return { resourceRules: [], nonResourceRules: [], incomplete: isNode, errors }
    },
  }
}

/**
 * Creates a node authorizer that follows pods, volumes, attachments and slices; changes apply as soon as the informer
 * delivers them.
 *
 * @example
 * ```ts
 * import { createNodeAuthorizerFromInformer, type ObjectInformer } from '@krmkit/authorization'
 *
 * // Without pods, no kubelet may read a Secret.
 * const informer: ObjectInformer = { follow: async () => undefined }
 * const { authorize } = await createNodeAuthorizerFromInformer(informer)
 * const user = { username: 'system:node:a', groups: ['system:nodes'] }
 * const secret = { group: '', version: 'v1', resource: 'secrets', subresource: '', namespace: 'shop', name: 'tls' }
 * authorize({ ...secret, user, verb: 'get', isResource: true, path: '' }).reason
 * // "no relationship found between node 'a' and this object"
 * ```
 */
export async function createNodeAuthorizerFromInformer(
  informer: ObjectInformer,
  options: Pick<NodeAuthorizerOptions, 'profile' | 'rules' | 'features'> = {},
): Promise<SyncAuthorizer> {
  const { profile = stockProfile } = options
  const graph = new NodeGraph({ profile })
  const syncs = [
    await informer.follow({ group: '', resource: 'pods' }, graph.pods),
    await informer.follow({ group: '', resource: 'persistentvolumes' }, graph.volumes),
    await informer.follow({ group: `storage.${profile.apiDomain}`, resource: 'volumeattachments' }, graph.attachments),
    await informer.follow({ group: `resource.${profile.apiDomain}`, resource: 'resourceslices' }, graph.slices),
  ].filter((sync) => sync !== undefined)
  return createNodeAuthorizer({
    ...options,
    graph,
    sync() {
      for (const sync of syncs) sync()
    },
  })
}

/** Decides about requests of a node for one resource. */
type ResourceAuthorizer = (node: string, attributes: Attributes) => Decision

/** Authorizers of resources that are restricted per object, by `group/resource`. */
function resourceAuthorizers(
  graph: NodeGraph,
  { profile, features }: RoleSettings,
): Readonly<Record<string, ResourceAuthorizer>> {
  const needed =
    (kind: ReferredKind): ResourceAuthorizer =>
    (node, { namespace, name }) =>
      requireRelation(node, name, () => graph.needs(node, kind, namespace, name))
  const claim = needed('claim')
  return {
    '/secrets': readNamespaced(needed('secret')),
    '/configmaps': readNamespaced(needed('configmap')),
    '/persistentvolumeclaims': (node, attributes) =>
      attributes.subresource === 'status' ? writeStatusOnly(claim)(node, attributes) : getIndividual(claim)(node, attributes),
    '/persistentvolumes': getIndividual((node, { name }) => requireRelation(node, name, () => graph.mounts(node, name))),
    [`resource.${profile.apiDomain}/resourceclaims`]: getIndividual(needed('resourceclaim')),
    [`storage.${profile.apiDomain}/volumeattachments`]: getIndividual((node, { name }) =>
      requireRelation(node, name, () => graph.attaches(node, name)),
    ),
    '/serviceaccounts': gateEnabled('KubeletServiceAccountTokenForCredentialProviders', features)
      ? tokenOrRead(needed('account'))
      : createTokenOnly(needed('account')),
    [`coordination.${profile.apiDomain}/leases`]: ownLease(profile.nodeLeaseNamespace),
    [`storage.${profile.apiDomain}/csinodes`]: ownCsiNode,
    [`resource.${profile.apiDomain}/resourceslices`]: ownSlices(graph),
    // Without the gate, the rules of the role apply to nodes and pods.
    ...(gateEnabled('AuthorizeNodeWithSelectors', features) ? { '/nodes': ownNode, '/pods': ownPods(graph) } : {}),
  }
}

function refused(reason: string): Decision {
  return { decision: 'noOpinion', reason }
}

function requireRelation(node: string, name: string, isRelated: () => boolean): Decision {
  if (name === '') return refused('No Object name found')
  return isRelated() ? allowed : refused(`no relationship found between node '${node}' and this object`)
}

/** Allows kubelets to get, list and watch single objects of a namespace. */
function readNamespaced(next: ResourceAuthorizer): ResourceAuthorizer {
  return (node, attributes) => {
    if (!['get', 'list', 'watch'].includes(attributes.verb)) return refused('can only read resources of this type')
    if (attributes.subresource !== '') return refused('cannot read subresource')
    if (attributes.namespace === '') return refused('can only read namespaced object of this type')
    return next(node, attributes)
  }
}

/** Allows kubelets to read service accounts of their pods, and to create tokens for them. */
function tokenOrRead(next: ResourceAuthorizer): ResourceAuthorizer {
  return (node, attributes) => {
    const reads = attributes.verb === 'get' && attributes.subresource === ''
    return (reads ? readNamespaced(next) : createTokenOnly(next))(node, attributes)
  }
}

function getIndividual(next: ResourceAuthorizer): ResourceAuthorizer {
  return (node, attributes) => {
    if (attributes.verb !== 'get') return refused('can only get individual resources of this type')
    if (attributes.subresource !== '') return refused('cannot get subresource')
    return next(node, attributes)
  }
}

function writeStatusOnly(next: ResourceAuthorizer): ResourceAuthorizer {
  return (node, attributes) =>
    attributes.verb === 'update' || attributes.verb === 'patch'
      ? next(node, attributes)
      : refused('can only get/update/patch this type')
}

function createTokenOnly(next: ResourceAuthorizer): ResourceAuthorizer {
  return (node, attributes) => {
    const { verb, name, subresource } = attributes
    if (verb === 'get' && subresource === '') return refused('not allowed to get service accounts')
    if (verb !== 'create' || name === '') return refused('can only create tokens for individual service accounts')
    if (subresource !== 'token') return refused('can only create token subresource of serviceaccount')
    return next(node, attributes)
  }
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

/** Allows kubelets to access their Lease. The attributes of a create request have no object name; admission checks it. */
function ownLease(leaseNamespace: string): ResourceAuthorizer {
  return (node, { verb, namespace, name }) => {
    if (!ownVerbs.includes(verb)) return refused('can only get, create, update, patch, or delete a node lease')
    if (namespace !== leaseNamespace) return refused(`can only access leases in the "${leaseNamespace}" system namespace`)
    if (verb === 'create' || name === node) return allowed
    return refused('can only access node lease with the same name as the requesting node')
  }
}

const ownCsiNode: ResourceAuthorizer = (node, { verb, subresource, name }) => {
  if (!ownVerbs.includes(verb)) return refused('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return refused('cannot authorize CSINode subresources')
  if (verb === 'create' || name === node) return allowed
  return refused('can only access CSINode with the same name as the requesting node')
}

function ownSlices(graph: NodeGraph): ResourceAuthorizer {
  return (node, attributes) => {
    const { verb, subresource, name } = attributes
    if (subresource !== '') return refused('cannot authorize ResourceSlice subresources')
    if (verb === 'create') return allowed
    if (['get', 'update', 'patch', 'delete'].includes(verb)) return requireRelation(node, name, () => graph.publishes(node, name))
    if (!['watch', 'list', 'deletecollection'].includes(verb)) {
      const verbs = 'get, watch, list, create, update, patch, delete, deletecollection'
      return refused(`only the following verbs are allowed for a ResourceSlice: ${verbs}`)
    }
    if (selects(attributes, 'spec.nodeName', node)) return allowed
    return refused('can only list/watch/deletecollection resourceslices with nodeName field selector')
  }
}

const ownNode: ResourceAuthorizer = (node, { verb, subresource, name }) => {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion
  if (subresource !== '') return noOpinion
  if (verb === 'create' || verb === 'update' || verb === 'patch') return allowed
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion
  if (name === node) return allowed
  if (name === '') return refused(`node '${node}' cannot read all nodes, only its own Node object`)
  return refused(`node '${node}' cannot read '${name}', only its own Node object`)
}

function ownPods(graph: NodeGraph): ResourceAuthorizer {
  return (node, attributes) => {
    const { verb, subresource, namespace, name } = attributes
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion
    if (subresource === 'eviction') return verb === 'create' ? allowed : noOpinion
    if (subresource !== '') return noOpinion
    const isOwn = () => graph.runs(node, namespace, name)
    if (verb === 'create' || verb === 'delete') return allowed
    if (verb === 'get') return requireRelation(node, name, isOwn)
    if (verb !== 'list' && verb !== 'watch') return noOpinion
    if (selects(attributes, 'spec.nodeName', node)) return allowed
    if (name !== '') return requireRelation(node, name, isOwn)
    return refused('can only list/watch pods with spec.nodeName field selector')
  }
}

function selects({ fieldSelector = [] }: Attributes, field: string, value: string): boolean {
  return fieldSelector.some((each) => each.field === field && each.operator === '=' && each.value === value)
}
