import { deprecationWarning, type ResourceDefinition, type ResourceInfo } from '@krmkit/kinds'
import { ApiError, formatApiVersion } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { isStorableName, type Registry } from '@krmkit/registry'
import { isBuiltInGroup } from '../discovery/documents.ts'
import { builtInPatches } from '../encoding/patch-body.ts'
import { createResource } from '../handlers/create.ts'
import { deleteResource } from '../handlers/delete.ts'
import { deleteCollection } from '../handlers/delete-collection.ts'
import { getResource } from '../handlers/get.ts'
import { listResource } from '../handlers/list.ts'
import { patchResource } from '../handlers/patch.ts'
import { updateResource } from '../handlers/update.ts'
import { watchResource } from '../handlers/watch.ts'
import { textResponse } from '../media/response-writer.ts'
import { connectable } from '../request/connectable.ts'
import { header, type RequestContext } from '../request/context.ts'
import type { RequestInfo } from '../request/info.ts'
import { createScopes, type RequestScope, type ResourceHandler, type ServerScope } from '../request/scope.ts'
import type { TraceStep } from '../request/trace.ts'
import { connectResource } from '../subresources/connect.ts'
import { virtualHandler } from '../subresources/handlers.ts'
import { inVerbSpan } from '../tracing/handler-spans.ts'

const verbHandlers: Readonly<Record<string, ResourceHandler>> = {
  get: getResource,
  list: listResource,
  watch: watchResource,
  create: createResource,
  update: updateResource,
  patch: patchResource,
  delete: deleteResource,
  deletecollection: deleteCollection,
}

/** @returns a function that finds the resource of a request's path and runs the handler of its verb. It throws or rejects. */
export function createDispatcher(server: ServerScope): (context: RequestContext) => Promise<ApiResponse> {
  const { registry, profile } = server
  const scopeOf = createScopes(server)
  const run = (context: RequestContext, definition: ResourceDefinition, subresource: ResourceInfo | undefined) => {
    // Authorization treats a Namespace as an object in itself; the handlers treat it as cluster-scoped.
    if (isNamespaces(definition)) context.info = { ...context.info, namespace: '' }
    const scope = scopeOf(definition, subresource)
    if (context.request.trace !== undefined) traceConversion(definition, context)
    const handler = handlerOf(scope, context)
    if (definition.custom === undefined) {
      requireRoute(scope, context)
      warnOfDeprecation(scope, context)
    }
    return context.span === undefined ? handler(scope, context) : inVerbSpan(handler, scope, context)
  }
  return (context) => {
    const { info } = context
    const { group, version, resource } = info
    if (!registry.served.hasGroup(group)) return Promise.resolve(pageNotFound())
    const definition = registry.resource({ group, version, resource }) ?? unservedStorage(registry, context)
    if (!isBuiltInGroup(group, profile)) {
      if (definition === undefined || isMisplaced(definition, info)) return Promise.resolve(pageNotFound())
      // Warn first, because an unknown subresource is refused with the deprecation warning, too.
      warnOfDeprecation(scopeOf(definition, undefined), context)
      return run(context, definition, customSubresource(definition, info))
    }
    if (definition === undefined || info.verb === 'proxy') throw ApiError.genericNotFound()
    return run(context, definition, builtInSubresource(definition, info))
  }
}

function pageNotFound(): ApiResponse {
  return textResponse(404, '404 page not found\n')
}

/** The definition of a storage version that is not served, for internal requests of the server only. */
function unservedStorage(registry: Registry, { info, request }: RequestContext): ResourceDefinition | undefined {
  if (request.internal !== true) return undefined
  const stored = registry.stored(info.group, info.resource)
  return stored?.group === info.group && stored.version === info.version ? stored : undefined
}

function traceConversion({ kind, resource, storage, conversion }: ResourceDefinition, { request }: RequestContext): void {
  const [requested, stored] = [formatApiVersion(kind), formatApiVersion(storage)]
  if (requested === stored || resource.virtual === true) return
  const by = conversion === undefined ? 'server' : 'webhook'
  request.trace?.({ step: 'converted', conversion: { requested, stored, by } } satisfies TraceStep)
}

function isNamespaces({ group, resource }: ResourceDefinition): boolean {
  return group === '' && resource.name === 'namespaces'
}

/** The addressed subresource of a built-in resource. @throws ApiError 404 for paths that do not exist. */
function builtInSubresource(definition: ResourceDefinition, info: RequestInfo): ResourceInfo | undefined {
  const { namespace, name, resource, subresource, rest } = info
  const { namespaced } = definition.kind
  const isNamespace = isNamespaces(definition)
  // The path `namespaces/a/namespaces/a` addresses a resource inside a namespace.
  const isNested = isNamespace && info.path.includes(`/namespaces/${name}/namespaces/`)
  const isElsewhere = namespace !== '' && (isNested || !(isNamespace && namespace === name))
  if (namespaced ? namespace === '' && name !== '' : isElsewhere) throw ApiError.genericNotFound()
  if (namespace !== '' && !isStorableName(namespace)) throw ApiError.genericNotFound()
  if (rest.length > 0 && subresource !== 'proxy') throw ApiError.genericNotFound()
  if (subresource === '') return undefined
  const found = definition.subresources.find((each) => each.name === `${resource}/${subresource}`)
  if (found === undefined) throw ApiError.genericNotFound()
  return found
}

/** Verbs that can address the objects of all namespaces. */
const acrossNamespaces: ReadonlySet<string> = new Set(['list', 'watch'])

/** Whether a path does not match the scope of a custom resource. The router answers such paths with a plain-text 404. */
function isMisplaced({ kind }: ResourceDefinition, { namespace, name, verb }: RequestInfo): boolean {
  return kind.namespaced ? namespace === '' && (name !== '' || !acrossNamespaces.has(verb)) : namespace !== ''
}

/** The addressed subresource of a custom resource. @throws ApiError 404, 405 */
function customSubresource(definition: ResourceDefinition, info: RequestInfo): ResourceInfo | undefined {
  const { group, resource, subresource, name, verb, rest } = info
  if (subresource === '') return undefined
  const found = definition.subresources.find((each) => each.name === `${resource}/${subresource}`)
  if (found === undefined || rest.length > 0) throw ApiError.notFound({ group, resource }, name)
  if (!found.verbs.includes(verb)) throw ApiError.methodNotSupported({ group, resource }, verb)
  return found
}

function warnOfDeprecation({ definition, profile, features, deprecatedRequest }: RequestScope, context: RequestContext): void {
  const warning = definition.deprecationWarning ?? deprecationWarning(definition.kind, features)
  if (warning === undefined) return
  const { apiDomain } = profile
  const { removed } = definition.kind
  context.warnings.push(warning)
  context.annotations[`${apiDomain}/deprecated`] = 'true'
  if (removed !== undefined) context.annotations[`${apiDomain}/removed-release`] = removed
  deprecatedRequest(definition, context.info.subresource)
}

/** Shared instance: most requests are allowed, and the error is never modified. */
const notAllowed = ApiError.generic(405)

/** @throws ApiError 404, 405 */
function handlerOf(scope: RequestScope, { info, request }: RequestContext): ResourceHandler {
  const { definition, subresource } = scope
  if (subresource !== undefined && connectable.has(info.subresource)) {
    if (connectable.get(info.subresource)?.includes(request.method) === false) throw notAllowed
    return connectResource
  }
  // Reviews and bindings have no stored objects, so paths with a name do not exist, whatever the method.
  const { virtual, verbs } = definition.resource
  if (subresource === undefined && virtual === true && info.name !== '' && !verbs.includes('get')) throw ApiError.generic(404)
  const { custom, group, resource } = definition
  if (custom === undefined && request.method === 'HEAD') throw notAllowed
  if (info.verb === '')
    throw custom === undefined ? notAllowed : ApiError.methodNotSupported({ group, resource: resource.name }, '')
  if (subresource === undefined) return resourceHandler(scope, info, request.method)
  if (!subresource.verbs.includes(info.verb)) throw notAllowed
  return handlerFor(subresource, info.verb)
}

/**
 * Checks the media types of a request against those of its route, like the router of kube-apiserver, before the handler negotiates.
 *
 * @throws ApiError 406, 415
 */
function requireRoute({ responses }: RequestScope, { info, request }: RequestContext): void {
  const { negotiator } = responses
  const { verb, name, subresource } = info
  if (subresource !== 'log' && connectable.has(subresource)) return
  const accept = header(request, 'accept')
  if (verb === 'patch' && !isConsumed(header(request, 'content-type'), builtInPatches(responses))) {
    if (header(request, 'content-length') !== '0') throw ApiError.generic(415, { serverMessage: '415: Unsupported Media Type' })
    // As on kube-apiserver, a request without a body matches no route.
    negotiator.requireAccepted(accept, [])
  }
  const isRead = verb === 'get' || verb === 'list' || verb === 'watch'
  const types = negotiator.produced({ collection: isRead && name === '' })
  negotiator.requireAccepted(accept, subresource === 'log' ? ['text/plain', ...types] : types)
}

/** Whether one of the types of a Content-Type header is among `types`, compared literally. */
function isConsumed(contentType: string | undefined, types: readonly string[]): boolean {
  return (contentType ?? '').split(',').some((each) => types.includes(each.split(';', 1)[0]?.trim() ?? ''))
}

function resourceHandler({ definition, features }: RequestScope, info: RequestInfo, method: string): ResourceHandler {
  const { resource, custom, kind } = definition
  const { verb, name, namespace } = info
  if (verb === 'watch' && info.watchPrefix && method !== 'GET') throw notAllowed
  if (custom?.terminating === true && verb === 'create' && !features.release.atLeast('1.34')) throw terminating(definition, verb)
  if (custom === undefined && !resource.verbs.includes(verb)) throw notAllowed
  const isCollective = verb === 'create' || verb === 'deletecollection'
  if (isCollective && kind.namespaced && namespace === '' && !namesEmptyNamespace(info)) throw notAllowed
  if (verb === 'create' && name !== '') throw notAllowed
  if (custom === undefined && (verb === 'update' || verb === 'patch') && name === '') throw notAllowed
  return handlerFor(resource, verb)
}

/** Whether the path has an empty namespace. As on kube-apiserver, the handlers refuse it after reading the request. */
function namesEmptyNamespace({ path }: RequestInfo): boolean {
  return path.includes('/namespaces//')
}

function handlerFor({ kind, virtual }: ResourceInfo, verb: string): ResourceHandler {
  if (virtual === true) return virtualHandler(kind.kind)
  const handler = verbHandlers[verb]
  if (handler === undefined) throw notAllowed
  return handler
}

/** Custom resources of a definition that is being deleted cannot be created. */
function terminating({ group, resource }: ResourceDefinition, verb: string): ApiError {
  const refused = ApiError.methodNotSupported({ group, resource: resource.name }, verb)
  return new ApiError({ ...refused.status, message: `${verb} not allowed while custom resource definition is terminating` })
}
