import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { readRequestSubject } from '../certificate-subject.ts'
import { type NodeRequest, refuse } from './node-request.ts'
import { existingPod } from './pods.ts'
import { mentionsAudience } from './token-audiences.ts'

/** What a node agent may do with objects besides pods and nodes. */

interface Claim extends ApiObject {
  status?: Record<string, unknown>
}

/** A node tells how large a volume has become, and nothing else. */
export function checkClaim(request: NodeRequest): void {
  const { attributes, object, node } = request
  if (attributes.subresource !== 'status') refuse(request, 'may only update PVC status')
  if (attributes.operation !== 'UPDATE') refuse(request, `unexpected operation ${JSON.stringify(attributes.operation)}`)
  if (comparable(object) !== comparable(attributes.oldObject)) {
    refuse(request, `node ${JSON.stringify(node)} may not update fields other than status.quantity and status.conditions`)
  }
}

const reported = [
  'capacity',
  'conditions',
  'allocatedResources',
  'allocatedResourceStatuses',
  'currentVolumeAttributesClassName',
  'modifyVolumeStatus',
]

/** A claim without what a node may report of it. */
function comparable(object: DeepReadonly<ApiObject> | undefined): string {
  const claim = structuredClone(object ?? {}) as Partial<Claim>
  if (claim.metadata !== undefined) {
    delete claim.metadata.resourceVersion
    delete claim.metadata.managedFields
  }
  for (const member of reported) delete claim.status?.[member]
  return JSON.stringify(claim)
}

interface TokenRequest extends ApiObject {
  spec: {
    audiences?: string[] | null
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string } | null
  }
}

/** Tokens are for pods that run on the node, and for audiences that their volumes name or that the node has a right to. */
export async function checkToken(request: NodeRequest): Promise<void> {
  const { attributes, node } = request
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return
  const { boundObjectRef, audiences } = (request.object as DeepReadonly<TokenRequest>).spec
  const { apiVersion, kind, name = '', uid = '' } = boundObjectRef ?? {}
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') refuse(request, 'node requested token not bound to a pod')
  if (uid === '') refuse(request, 'node requested token with a pod binding without a uid')
  const pod = existingPod(request, name)
  if (pod.metadata.uid !== uid) {
    refuse(
      request,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  if (pod.spec.nodeName !== node) refuse(request, 'node requested token bound to a pod scheduled on a different node')
  if (!request.checkAudiences) return
  const [audience = '', ...more] = audiences ?? []
  if (more.length > 0) refuse(request, 'node may only request 0 or 1 audiences')
  const mention = mentionsAudience(pod, audience, request)
  if ('problem' in mention) refuse(request, `error validating audience ${JSON.stringify(audience)}: ${mention.problem}`)
  if (mention.found || (await mayAskFor(audience, request))) return
  refuse(
    request,
    `audience ${JSON.stringify(audience)} not found in pod spec volume, ${attributes.user.username} is not authorized to request tokens for this audience`,
  )
}

/** The right is about an audience, as if that were a resource, and an account by its name. */
async function mayAskFor(audience: string, { attributes, authorizer }: NodeRequest): Promise<boolean> {
  const { user, namespace, name } = attributes
  const { decision } = await authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-token-audience',
    isResource: true,
    group: '',
    version: 'v1',
    resource: audience,
    subresource: '',
    namespace,
    name,
    path: '',
  })
  return decision === 'allow'
}

/** The lease of the same name, where leases of nodes are kept. */
export function checkLease(request: NodeRequest): void {
  const { attributes, profile } = request
  if (attributes.namespace !== profile.nodeLeaseNamespace) {
    refuse(request, `can only access leases in the ${JSON.stringify(profile.nodeLeaseNamespace)} system namespace`)
  }
  if (nameOf(request) !== request.node) refuse(request, 'can only access node lease with the same name as the requesting node')
}

export function checkCsiNode(request: NodeRequest): void {
  if (nameOf(request) !== request.node) refuse(request, 'can only access CSINode with the same name as the requesting node')
}

function nameOf({ attributes, object }: NodeRequest): string {
  return attributes.operation === 'CREATE' ? (object?.metadata.name ?? '') : attributes.name
}

/** What devices a node has is told by itself. */
export function checkResourceSlice(request: NodeRequest): void {
  if (request.attributes.operation !== 'CREATE') return
  const { nodeName } = (request.object as DeepReadonly<{ spec?: { nodeName?: string } }>).spec ?? {}
  if (nodeName !== request.node) refuse(request, 'can only create ResourceSlice with the same NodeName as the requesting node')
}

/** Certificates of node agents are asked for in their own name. */
export function checkSigningRequest(request: NodeRequest): void {
  const { attributes, object, profile } = request
  if (attributes.operation !== 'CREATE') return
  const { signerName, request: text = '' } =
    (object as DeepReadonly<{ spec?: { signerName?: string; request?: string } }>).spec ?? {}
  if (signerName !== `${profile.domain}/kubelet-serving` && signerName !== `${profile.domain}/kube-apiserver-client-kubelet`)
    return
  const subject = readRequestSubject(text)
  if (subject === undefined) refuse(request, 'unable to parse csr')
  if (subject.commonName !== attributes.user.username) {
    refuse(request, `can only create a node CSR with CN=${attributes.user.username}`)
  }
}
