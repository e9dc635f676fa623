import { RequestSpan, readTraceContext, type SpanAttributes, spanKinds, type Tracer } from '@krmkit/base/tracing'
import type { ApiResponse } from '@krmkit/protocol'
import { sourceAddresses } from '../audit/source-addresses.ts'
import { type Filter, header, type RequestContext } from '../request/context.ts'
import type { RequestInfo } from '../request/info.ts'
import { withEndCallback } from '../request/stream-end.ts'

/** Members of these groups may continue their own trace, and thus decide whether it is sampled. */
const trustedGroups: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring'])

/**
 * Records a span for each request, from its arrival to the end of the response. Runs after authentication, because the trace of the
 * client is continued for trusted users only; for others it becomes a link.
 *
 * Differs: the span of authentication is a child of the request; on kube-apiserver it is a trace apart.
 */
export function tracing(tracer: Tracer): Filter {
  return async (context, next) => {
    const { request, user, startedAt, auditId } = context
    const startTime = new Date(startedAt)
    const options = {
      ...{ kind: spanKinds.server, startTime, attributes: { ...requestAttributes(context) } },
      ...(user.groups.some((group) => trustedGroups.has(group)) ? {} : { root: true }),
    }
    const span = RequestSpan.start(tracer, spanName(context), options, { auditId, remote: readTraceContext(request.headers) })
    context.span = span
    span.child('authentication', undefined, { startTime }).end()
    try {
      const response = await next(context)
      span.set(() => responseAttributes(response))
      if (response.status >= 500) span.fail()
      return endWith(response, span)
    } catch (error) {
      span.fail()
      span.end()
      throw error
    }
  }
}

/** The span of a filter: from its start to the start of the next filter, or to its refusal. */
export function tracked(name: string, filter: Filter): Filter {
  return async (context, next) => {
    const span = context.span?.child(name)
    if (span?.isRecording !== true) return filter(context, next)
    try {
      return await filter(context, (passed) => {
        span.end()
        return next(passed)
      })
    } finally {
      span.end()
    }
  }
}

/** Ends the span with the response, or with the stream of a streamed response. */
function endWith(response: ApiResponse, span: RequestSpan): ApiResponse {
  const { body, ...head } = response
  if (body.kind !== 'stream' || !span.isRecording) {
    span.end()
    return response
  }
  const { stream, events, ready } = body
  const end = () => span.end()
  const observed = events === undefined ? {} : { events: withEndCallback(events, end) }
  return { ...head, body: { kind: 'stream', stream: withEndCallback(stream, end), ready, ...observed } }
}

/** The name of a span: method and route. As on kube-apiserver, it omits the names of objects and namespaces. */
function spanName({ info, request: { method } }: RequestContext): string {
  return info.isResource ? `${method} ${routeOf(info)}` : method
}

function routeOf({ path, group, version, namespace, resource, name, subresource }: RequestInfo): string {
  const parts = [
    path.split('/', 2)[1],
    group,
    version,
    ...(namespace === '' ? [] : ['namespaces', '{:namespace}']),
    resource,
    name === '' ? '' : '{:name}',
    subresource,
  ]
  return parts.map((part) => (part === '' ? '' : `/${part}`)).join('')
}

/** Attributes by the HTTP conventions that kube-apiserver follows, as far as they do not depend on sockets. */
function requestAttributes({ request }: RequestContext): SpanAttributes {
  const { method, path, query, peer } = request
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(header(request, 'host') ?? '') ?? []
  const client = request.headers['x-forwarded-for'] === undefined ? undefined : sourceAddresses(request)[0]
  return {
    'http.method': method,
    'http.target': query === '' ? path : `${path}?${query}`,
    ...(host === '' ? {} : { 'net.host.name': host }),
    ...(port === undefined ? {} : { 'net.host.port': Number(port) }),
    ...(peer.address === undefined ? {} : { 'net.sock.peer.addr': peer.address }),
    ...(client === undefined ? {} : { 'http.client_ip': client }),
    ...textAttribute('user_agent.original', header(request, 'user-agent')),
  }
}

function textAttribute(name: string, value: string | undefined): SpanAttributes {
  return value === undefined ? {} : { [name]: value }
}

function responseAttributes({ status, body }: ApiResponse): SpanAttributes {
  const bytes = bodyLength(body)
  return { 'http.status_code': status, ...(bytes > 0 ? { 'http.response_content_length': bytes } : {}) }
}

/** Length of a body in bytes; 0 when it is not known yet. */
export function bodyLength(body: ApiResponse['body']): number {
  return body.kind === 'bytes' ? body.bytes.byteLength : body.kind === 'list' ? body.length : 0
}
