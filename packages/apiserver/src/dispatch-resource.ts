import { deprecationWarning, type ResourceDefinition, type ResourceInfo } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'
import { isStorableName } from '@krmkit/registry'
import { isBuiltInGroup } from './discovery/documents.ts'
import type { ApiResponse } from './interfaces.ts'
import type { RequestContext } from './request-context.ts'
import type { Machinery, ResourceRequest } from './resource-handler.ts'
import { textResponse } from './responses.ts'
import { componentStatuses } from './subresources/component-status.ts'
import { connectable, connectResource } from './subresources/connect.ts'
import { finalizeNamespace } from './subresources/namespace-finalize.ts'
import { bindPod } from './subresources/pod-binding.ts'
import { evictPod } from './subresources/pod-eviction.ts'
import { answerReview, reviewAnswers } from './subresources/reviews.ts'
import { scaleResource } from './subresources/scale.ts'
import { requestToken } from './subresources/service-account-token.ts'
import { patchResource } from './verbs/patch.ts'
import { getObject, listObjects } from './verbs/read.ts'
import { watchObjects } from './verbs/watch.ts'
import { createResource, deleteCollection, deleteResource, updateResource } from './verbs/write.ts'

type Verb = (request: ResourceRequest) => Promise<ApiResponse>

const verbs: Readonly<Record<string, Verb>> = {
  get: getObject,
  list: listObjects,
  watch: watchObjects,
  create: createResource,
  update: updateResource,
  patch: patchResource,
  delete: deleteResource,
  deletecollection: deleteCollection,
}

/** Sub-resources with a kind of their own, by `group/resource/subresource`. */
const operations: Readonly<Record<string, Verb>> = {
  '/pods/binding': bindPod,
  '/pods/eviction': evictPod,
  '/namespaces/finalize': finalizeNamespace,
}

/** Finds the resource that a path names, and the handler of the verb. */
export async function dispatchResource(
  machinery: Machinery,
  state: RequestContext,
  knowsGroup: (group: string) => boolean,
  knowsVersion: (group: string, version: string) => boolean,
): Promise<ApiResponse> {
  const { info } = state
  if (!knowsGroup(info.group)) return textResponse(404, '404 page not found\n')
  if (!isBuiltInGroup(info.group, machinery.writer.environment.profile)) return dispatchCustom(machinery, state)
  if (!knowsVersion(info.group, info.version)) throw ApiError.genericNotFound()
  const definition = machinery.resource({ group: info.group, version: info.version, resource: info.resource })
  if (definition === undefined) throw ApiError.genericNotFound()
  const { namespaced } = definition.kind
  const ownNamespace = definition.group === '' && definition.resource.name === 'namespaces'
  // `namespaces/a/namespaces/a` names a place inside of a namespace too.
  const inside = ownNamespace && info.path.includes(`/namespaces/${info.name}/namespaces/`)
  const elsewhere = info.namespace !== '' && (inside || !(ownNamespace && info.namespace === info.name))
  if (namespaced ? info.namespace === '' && info.name !== '' : elsewhere) throw ApiError.genericNotFound()
  if (info.namespace !== '' && !isStorableName(info.namespace)) throw ApiError.genericNotFound()
  const found =
    info.subresource === ''
      ? undefined
      : definition.subresources.find(({ name }) => name === `${info.resource}/${info.subresource}`)
  if (info.subresource !== '' && found === undefined) throw ApiError.genericNotFound()
  if (info.rest.length > 0 && info.subresource !== 'proxy') throw ApiError.genericNotFound()
  return answer(machinery, state, definition, found)
}

/** What is done to all namespaces at once. */
const acrossNamespaces: ReadonlySet<string> = new Set(['list', 'watch'])

/** Groups that came at run time have no routes of their own: what they do not serve is answered by the router in plain text. */
async function dispatchCustom(machinery: Machinery, state: RequestContext): Promise<ApiResponse> {
  const { info } = state
  const { group, version, resource, subresource, namespace, name } = info
  const definition = machinery.resource({ group, version, resource })
  const { namespaced } = definition?.kind ?? { namespaced: false }
  const misplaced = namespaced ? namespace === '' && (name !== '' || !acrossNamespaces.has(info.verb)) : namespace !== ''
  if (definition === undefined || misplaced) return textResponse(404, '404 page not found\n')
  const found =
    subresource === '' ? undefined : definition.subresources.find((each) => each.name === `${resource}/${subresource}`)
  if (subresource !== '' && (found === undefined || info.rest.length > 0)) throw ApiError.notFound({ group, resource }, name)
  if (found !== undefined && !found.verbs.includes(info.verb)) throw ApiError.methodNotSupported({ group, resource }, info.verb)
  return answer(machinery, state, definition, found)
}

async function answer(
  machinery: Machinery,
  state: RequestContext,
  definition: ResourceDefinition,
  found: ResourceInfo | undefined,
): Promise<ApiResponse> {
  const { info } = state
  const ownNamespace = definition.group === '' && definition.resource.name === 'namespaces'
  // A namespace is cluster-scoped: the segment that names it is its name, and its "own namespace" only for authorization.
  if (ownNamespace) state.info = { ...info, namespace: '' }
  const request: ResourceRequest = {
    machinery,
    state,
    definition,
    view: machinery.view(definition),
    subresource: found,
  }
  const warning = definition.deprecationWarning ?? deprecationWarning(definition.kind)
  if (warning !== undefined) {
    const { apiDomain } = machinery.writer.environment.profile
    state.warnings.push(warning)
    state.annotations[`${apiDomain}/deprecated`] = 'true'
    if (definition.kind.removed !== undefined) state.annotations[`${apiDomain}/removed-release`] = definition.kind.removed
    machinery.deprecatedRequest(definition, info.subresource)
  }
  return handlerOf(request, found)(request)
}

/** Made once: most requests are allowed, and none changes it. */
const notAllowed = ApiError.generic(405)

function handlerOf({ definition, state, machinery }: ResourceRequest, subresource: ResourceInfo | undefined): Verb {
  const { info, request } = state
  if (subresource !== undefined && connectable.has(info.subresource)) {
    if (connectable.get(info.subresource)?.includes(request.method) === false) throw notAllowed
    return connectResource
  }
  if (request.method === 'HEAD' || info.verb === '') throw notAllowed
  if (subresource !== undefined) {
    const short = info.subresource
    if (!subresource.verbs.includes(info.verb)) throw notAllowed
    if (short === 'scale') return scaleResource
    if (short === 'token' && info.resource === 'serviceaccounts' && machinery.issuer !== undefined) {
      const { issuer } = machinery
      return (one) => requestToken(one, issuer)
    }
    const operation = operations[`${definition.group}/${info.resource}/${short}`]
    if (operation !== undefined) return operation
    if (subresource.virtual === true) throw ApiError.generic(405)
    return verbs[info.verb] ?? refuse(notAllowed)
  }
  // Of reviews and bindings there are no objects, and so no paths of objects.
  const { virtual, verbs: served } = definition.resource
  if (virtual === true && info.name !== '' && !served.includes('get')) throw ApiError.generic(404)
  if (info.verb === 'watch' && info.watchPrefix && request.method !== 'GET') throw notAllowed
  if (definition.custom?.terminating === true && info.verb === 'create') throw terminating(definition, info.verb)
  if (definition.custom === undefined && !definition.resource.verbs.includes(info.verb)) throw notAllowed
  const collective = info.verb === 'create' || info.verb === 'deletecollection'
  if (collective && definition.kind.namespaced && info.namespace === '') throw notAllowed
  if (info.verb === 'create' && info.name !== '') throw notAllowed
  if ((info.verb === 'update' || info.verb === 'patch') && info.name === '') throw notAllowed
  if (definition.resource.virtual === true) {
    const { kind } = definition.kind
    const review = reviewAnswers[kind]
    if (review !== undefined) return (one) => answerReview(one, review)
    if (kind === 'Binding') return bindPod
    if (kind === 'ComponentStatus') return componentStatuses
    throw notAllowed
  }
  return verbs[info.verb] ?? refuse(notAllowed)
}

/** What a definition that is going away does not allow any more. */
function terminating({ group, resource }: ResourceDefinition, verb: string): ApiError {
  const refused = ApiError.methodNotSupported({ group, resource: resource.name }, verb)
  return new ApiError({ ...refused.status, message: `${verb} not allowed while custom resource definition is terminating` })
}

function refuse(error: ApiError): never {
  throw error
}
