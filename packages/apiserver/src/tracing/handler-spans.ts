import { inSpan, RequestSpan, readTraceContext, type SpanAttributes } from '@krmkit/base/tracing'
import type { ApiResponse } from '@krmkit/protocol'
import { sourceAddresses } from '../audit/source-addresses.ts'
import { header, type RequestContext } from '../request/context.ts'
import type { RequestScope, ResourceHandler } from '../request/scope.ts'
import { bodyLength } from './request-tracing.ts'

const spanNames: Readonly<Record<string, string>> = {
  ...{ get: 'Get', list: 'List', watch: 'List', create: 'Create', update: 'Update', patch: 'Patch' },
  ...{ delete: 'Delete', deletecollection: 'Delete' },
}

/** Runs a handler inside the span of its verb. */
export async function inVerbSpan(handler: ResourceHandler, scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { span: request, info } = context
  const name = spanNames[info.verb]
  if (request?.isRecording !== true || name === undefined) return handler(scope, context)
  const span = request.child(name, () => fieldsOf(context))
  context.span = span
  try {
    const response = await handler(scope, context)
    span.event('Writing http response done')
    return response
  } finally {
    context.span = request
    span.end()
  }
}

const maxUserAgentCharacters = 1024

/** Attributes of the spans of verbs, named as on kube-apiserver. */
function fieldsOf({ request, info, auditId }: RequestContext): SpanAttributes {
  const agent = header(request, 'user-agent') ?? 'unknown'
  const isOne = info.name !== '' || info.verb === 'create'
  return {
    accept: header(request, 'accept') ?? '',
    'audit-id': auditId,
    client: sourceAddresses(request)[0] ?? 'unknown',
    'api-group': info.group,
    'api-version': info.version,
    name: info.name,
    subresource: info.subresource,
    namespace: info.namespace,
    resource: info.resource,
    scope: isOne ? 'resource' : info.namespace === '' ? 'cluster' : 'namespace',
    url: info.path,
    'user-agent': agent.length > maxUserAgentCharacters ? `${agent.slice(0, maxUserAgentCharacters)}...TRUNCATED` : agent,
    verb: info.isResource && info.verb === 'list' ? 'LIST' : info.verb === 'watch' ? 'WATCH' : request.method,
  }
}

/** Encodes a response inside the serialization span. */
export async function inSerializationSpan(
  context: RequestContext,
  respond: () => ApiResponse | Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { request, info } = context
  context.span?.event('About to write a response')
  const fields = () => ({ 'audit-id': context.auditId, method: request.method, url: info.path })
  return inSpan(context.span, 'SerializeObject', fields, async (span) => {
    const response = await respond()
    span?.set(() => ({ mediaType: String(response.headers['content-type'] ?? '') }))
    span?.event('About to start writing response', () => ({ size: bodyLength(response.body) }))
    return response
  })
}

/** The span that requests to other servers continue: when nothing is recorded, the span of the client. */
export function outgoingSpan({ span, request, auditId }: RequestContext): RequestSpan | undefined {
  if (span !== undefined) return span
  if (request.headers['traceparent'] === undefined) return undefined
  const remote = readTraceContext(request.headers)
  return remote === undefined ? undefined : RequestSpan.passedOn(remote, auditId)
}
