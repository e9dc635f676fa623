import type { AuditEvent } from '@krmkit/apiserver/audit'
import { redactQuery } from '@krmkit/apiserver/request-info'
import { ClientError } from '@krmkit/client'

/** The log of the server, written to the error stream. */
export interface Log {
  /** @param members what a log in JSON has instead of the text */
  info(text: string, members?: Readonly<Record<string, unknown>>): void
  error(text: string, error?: unknown): void
}

export const logFormats = ['text', 'json'] as const

export type LogFormat = (typeof logFormats)[number]

/**
 * A log in one of two formats. `text`: lines for people. `json`: an object per line with the members of kube-apiserver: `ts` in milliseconds
 * since the epoch, `msg`, `v` for information, `err` for errors.
 */
export function createStreamLog(write: (line: string) => void, format: LogFormat = 'text'): Log {
  if (format === 'json') {
    const line = (members: object) => write(`${JSON.stringify({ ts: Date.now(), ...members })}\n`)
    return {
      info: (msg, members = { msg, v: 0 }) => line(members),
      error: (msg, error) => line({ msg, ...(error === undefined ? {} : { err: describe(error) }) }),
    }
  }
  return {
    info: (text) => write(`krmkit: ${text}\n`),
    error: (text, error) => write(`krmkit: ${text}${error === undefined ? '' : `: ${describe(error)}`}\n`),
  }
}

const clientRequests = 2
const allRequests = 4

/**
 * What receives the events of requests at a verbosity: from 2 on requests of clients are logged, from 4 on those that the server and its
 * controllers send themselves, too. These have no address.
 */
export function requestLoggers(log: Log, verbosity: number): ((event: AuditEvent) => void)[] {
  if (verbosity < clientRequests) return []
  return [
    (event) => {
      if (verbosity >= allRequests || (event.sourceIPs ?? []).length > 0) logRequest(log, event)
    },
  ]
}

/** Logs an answered request, without credentials of its query. In JSON the members are those of the HTTP log of kube-apiserver, and the user. */
export function logRequest(log: Log, event: AuditEvent): void {
  const { verb, responseStatus, user, auditID, userAgent = '', sourceIPs = [], stageTimestamp } = event
  const requestURI = redactQuery(event.requestURI)
  const latency = `${Date.parse(stageTimestamp) - Date.parse(event.requestReceivedTimestamp)}ms`
  const text = `${stageTimestamp} ${verb} ${requestURI} ${responseStatus?.code} ${latency} ${user.username} ${auditID}`
  log.info(text, {
    ...{ msg: 'HTTP', v: 2, verb: verb.toUpperCase(), URI: requestURI, latency, userAgent, 'audit-ID': auditID },
    ...{ srcIP: sourceIPs.at(-1) ?? '', user: user.username, resp: responseStatus?.code ?? 0 },
  })
}

/** The stack of an error, but not of an unreachable server: its message is all that a user needs. */
function describe(error: unknown): string {
  if (error instanceof ClientError && error.code === 'Unreachable') return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
