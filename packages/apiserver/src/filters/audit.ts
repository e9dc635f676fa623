import type { ApiResponse } from '@krmkit/protocol'
import { AuditRecord, type RecordOptions, type SelectedTrail } from '../audit/audit-record'
import type { AuditAttributes, AuditTrail } from '../audit/interfaces.ts'
import { type AuditLevel, type Filter, header, type RequestContext } from '../request-context.ts'

const levels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse']

/** Sub-resources whose answers last as long as the client likes, beside watches. */
const lasting: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy', 'log'])

/**
 * Tells the trails of requests, as their policies say; comes after authentication, so that the user is known. Costs nothing where
 * no trail is kept.
 *
 * @see API protocol specification, 6
 */
export function audit(trails: readonly AuditTrail[], options: RecordOptions): Filter | undefined {
  if (trails.length === 0) return undefined
  return async (context, next) => {
    context.isAudited = true
    const kept = selectTrails(trails, attributesOf(context))
    if (kept.length === 0) return next()
    context.auditLevel = highestLevel(kept)
    const record = new AuditRecord(context, kept, options, context.user)
    await record.emit('RequestReceived')
    const response = await next()
    if (response.body.kind === 'stream') return auditStream(record, context, response)
    await record.emit(context.fault === undefined ? 'ResponseComplete' : 'Panic', { response })
    return response
  }
}

/**
 * Tells the trails of requests that were refused before it was known who made them: their credentials are bad, or there are too many
 * requests. Comes before everything that refuses so.
 */
export function auditRejections(trails: readonly AuditTrail[], options: RecordOptions): Filter | undefined {
  if (trails.length === 0) return undefined
  return async (context, next) => {
    try {
      return await next()
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
  const kept = selectTrails(trails, { ...attributesOf(context), user: undefined })
  if (kept.length === 0) return
  const record = new AuditRecord(context, kept, options, undefined)
  const response: ApiResponse = { status: code, headers: {}, body: { kind: 'empty' } }
  if (code === 401) await record.emit('ResponseStarted', { response, message: attemptedMethods(context) })
  else await record.emit('ResponseComplete', { response, message: error instanceof Error ? error.message : String(error) })
}

function statusCodeOf(error: unknown): number {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  return typeof code === 'number' ? code : 500
}

/** How somebody tried to say who they are; never with what. */
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
  const kept: SelectedTrail[] = []
  for (const trail of trails) {
    const decision = trail.policy.decide(attributes)
    if (decision.level !== 'None') kept.push({ trail, decision })
  }
  return kept
}

function highestLevel(kept: readonly SelectedTrail[]): AuditLevel {
  return levels[Math.max(...kept.map(({ decision }) => levels.indexOf(decision.level)))] ?? 'None'
}

function attributesOf({ info, user }: RequestContext): AuditAttributes {
  const { verb, isResource, group, resource, subresource, namespace, name, path } = info
  return { user, verb, isResource, group, resource, subresource, namespace, name, path }
}

/** A stream is told of when it begins, where it lasts, and when it ends. */
async function auditStream(record: AuditRecord, context: RequestContext, response: ApiResponse): Promise<ApiResponse> {
  const { body, ...head } = response
  if (body.kind !== 'stream') return response
  const { verb, subresource } = context.info
  if (verb === 'watch' || lasting.has(subresource)) await record.emit('ResponseStarted', { response })
  let told: Promise<void> | undefined
  const over = (): Promise<void> => {
    told ??= record.emit(context.fault === undefined ? 'ResponseComplete' : 'Panic', { response })
    return told
  }
  const { stream, events } = body
  return {
    ...head,
    body: { kind: 'stream', stream: ending(stream, over), ...(events === undefined ? {} : { events: ending(events, over) }) },
  }
}

/** The same pieces; `over` is called once they have ended, however they did. */
function ending<T>(pieces: AsyncIterable<T>, over: () => Promise<void>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const inner = pieces[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const result = await inner.next()
            if (result.done === true) await over()
            return result
          } catch (error) {
            await over()
            throw error
          }
        },
        async return(value?: unknown) {
          const result = (await inner.return?.(value)) ?? { done: true as const, value: undefined }
          await over()
          return result
        },
      }
    },
  }
}
