import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { type NodeRequest, refuse } from './node-request.ts'
import { existingPod } from './pods.ts'
import { mentionsAudience } from './token-audiences.ts'

interface TokenRequest extends ApiObject {
  spec: {
    audiences?: string[] | null
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string } | null
  }
}

/**
 * A kubelet requests tokens bound to pods on its node, for audiences that the pod's volumes name or that the authorizer permits.
 */
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
  if (mention.found || (await mayRequestAudience(audience, request))) return
  refuse(
    request,
    `audience ${JSON.stringify(audience)} not found in pod spec volume, ${attributes.user.username} is not authorized to request tokens for this audience`,
  )
}

/** The permission names the audience as its resource and the service account as its name. */
async function mayRequestAudience(audience: string, { attributes, authorizer }: NodeRequest): Promise<boolean> {
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
