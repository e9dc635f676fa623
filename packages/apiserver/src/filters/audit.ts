import type { Clock, UserInfo } from '@krmkit/meta'
import type { Filter, RequestState } from '../request-state.ts'

/** One request as the audit trail tells it: who did what, and how it ended. Never holds bodies, tokens or headers. */
export interface AuditEvent {
  readonly auditID: string
  readonly stage: 'ResponseComplete'
  readonly level: 'Metadata'
  readonly verb: string
  readonly requestURI: string
  /** Who asked. */
  readonly user: AuditUser
  /** As whom, when that is somebody else. */
  readonly impersonatedUser?: AuditUser
  readonly objectRef?: {
    readonly apiGroup: string
    readonly apiVersion: string
    readonly resource: string
    readonly subresource: string
    readonly namespace: string
    readonly name: string
  }
  readonly responseStatus: { readonly code: number }
  /** RFC 3339. */
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations: Readonly<Record<string, string>>
}

interface AuditUser {
  readonly username: string
  readonly groups: readonly string[]
  readonly uid?: string
}

export type AuditSink = (event: AuditEvent) => void

/** Tells the sink of every request once it is answered. Costs nothing when there is no sink. */
export function audit(sink: AuditSink | undefined, clock: Clock): Filter | undefined {
  if (sink === undefined) return undefined
  return async (state, next) => {
    state.auditLevel = 'Metadata'
    const response = await next()
    sink(eventOf(state, response.status, clock.now()))
    return response
  }
}

function eventOf(state: RequestState, code: number, now: number): AuditEvent {
  const { info, user, impersonator, request } = state
  return {
    auditID: state.auditId,
    stage: 'ResponseComplete',
    level: 'Metadata',
    verb: info.verb,
    requestURI: request.query === '' ? request.path : `${request.path}?${request.query}`,
    user: auditUser(impersonator ?? user),
    ...(impersonator === undefined ? {} : { impersonatedUser: auditUser(user) }),
    ...(info.isResource
      ? {
          objectRef: {
            apiGroup: info.group,
            apiVersion: info.version,
            resource: info.resource,
            subresource: info.subresource,
            namespace: info.namespace,
            name: info.name,
          },
        }
      : {}),
    responseStatus: { code },
    requestReceivedTimestamp: new Date(state.startedAt).toISOString(),
    stageTimestamp: new Date(now).toISOString(),
    annotations: state.annotations,
  }
}

function auditUser({ username, groups, uid }: UserInfo): AuditUser {
  return { username, groups, ...(uid === undefined ? {} : { uid }) }
}
