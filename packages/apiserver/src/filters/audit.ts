import type { ApiResponse } from '@krmkit/protocol'
import { AuditRecord, type RecordOptions, type SelectedTrail } from '../audit/audit-record.ts'
import type { AuditAttributes, AuditTrail } from '../audit/interfaces.ts'
import { type AuditLevel, type Filter, header, type NextFilter, type RequestContext } from '../request/context.ts'
import { isLongRunning } from '../request/long-running.ts'
import { withEndCallback } from '../request/stream-end.ts'

const levels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse']

/**
 * Emits audit events by the policies of the trails. Runs after authentication, so that the user is known. Returns undefined without trails.
 *
 * @see API protocol specification, 6
 */
export function audit(trails: readonly AuditTrail[], options: RecordOptions): Filter | undefined {
  if (trails.length === 0) return undefined
  return (context, next) => {
    context.isAudited = true
    const selected = selectTrails(trails, attributesOf(context))
    return selected.length === 0 ? next(context) : emitEvents(context, next, { selected, options })
  }
}

async function emitEvents(
  context: RequestContext,
  next: NextFilter,
  { selected, options }: { readonly selected: readonly SelectedTrail[]; readonly options: RecordOptions },
): Promise<ApiResponse> {
  context.auditLevel = highestLevel(selected)
  const record = new AuditRecord(context, selected, options, context.user)
  await record.emit('RequestReceived')
  const response = await next(context)
  if (response.body.kind === 'stream') return auditStream(record, context, response)
  await record.emit(context.fault === undefined ? 'ResponseComplete' : 'Panic', { response })
  return response
}

/**
 * Emits audit events of requests that were rejected before authentication: invalid credentials, or too many requests. Runs before
 * every filter that rejects them.
 */
export function auditRejections(trails: readonly AuditTrail[], options: RecordOptions): Filter | undefined {
  if (trails.length === 0) return undefined
  return async (context, next) => {
    try {
      return await next(context)
    } catch (error) {
      if (!context.isAudited) await recordRejection(trails, options, context, statusCodeOf(error), error)
      throw error
    }
  }
}

async function recordRejection(
  trails: readonly AuditTrail[],
  options: RecordOptions,
  context: RequestContext,
  code: number,
  error: unknown,
): Promise<void> {
  const selected = selectTrails(trails, { ...attributesOf(context), user: undefined })
  if (selected.length === 0) return
  const record = new AuditRecord(context, selected, options, undefined)
  const response: ApiResponse = { status: code, headers: {}, body: { kind: 'empty' } }
  if (code === 401) await record.emit('ResponseStarted', { response, message: attemptedMethods(context) })
  else await record.emit('ResponseComplete', { response, message: error instanceof Error ? error.message : String(error) })
}

function statusCodeOf(error: unknown): number {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  return typeof code === 'number' ? code : 500
}

/** Lists the attempted authentication methods, without the credentials. */
function attemptedMethods({ request }: RequestContext): string {
  const methods: string[] = []
  const [scheme = ''] = (header(request, 'authorization') ?? '').split(' ')
  if (scheme !== '')
    methods.push(scheme.toLowerCase() === 'bearer' ? 'bearer' : scheme.toLowerCase() === 'basic' ? 'basic' : 'other')
  if ((request.peer.certificates ?? []).length > 0) methods.push('x509')
  return methods.length === 0
    ? 'Authentication failed, no credentials provided'
    : `Authentication failed, attempted: ${methods.join(', ')}`
}

function selectTrails(trails: readonly AuditTrail[], attributes: AuditAttributes): SelectedTrail[] {
  const selected: SelectedTrail[] = []
  for (const trail of trails) {
    const decision = trail.policy.decide(attributes)
    if (decision.level !== 'None') selected.push({ trail, decision })
  }
  return selected
}

function highestLevel(selected: readonly SelectedTrail[]): AuditLevel {
  return levels[Math.max(...selected.map(({ decision }) => levels.indexOf(decision.level)))] ?? 'None'
}

function attributesOf({ info, user }: RequestContext): AuditAttributes {
  const { verb, isResource, group, resource, subresource, namespace, name, path } = info
  return { user, verb, isResource, group, resource, subresource, namespace, name, path }
}

/** Emits `ResponseStarted` of long-running requests, and completion when the stream ends. */
async function auditStream(record: AuditRecord, context: RequestContext, response: ApiResponse): Promise<ApiResponse> {
  const { body, ...head } = response
  if (body.kind !== 'stream') return response
  if (isLongRunning(context.info)) await record.emit('ResponseStarted', { response })
  let completed: Promise<void> | undefined
  const onEnd = (): Promise<void> => {
    completed ??= record.emit(context.fault === undefined ? 'ResponseComplete' : 'Panic', { response })
    return completed
  }
  const { stream, events, ready } = body
  return {
    ...head,
    body: {
      kind: 'stream',
      stream: withEndCallback(stream, onEnd),
      ready,
      ...(events === undefined ? {} : { events: withEndCallback(events, onEnd) }),
    },
  }
}
