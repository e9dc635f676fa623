import type { AuditEvent } from '@krmkit/apiserver/audit'

/** The log of the server, written to the error stream. */
export interface Log {
  info(text: string): void
  error(text: string, error?: unknown): void
}

export function createStreamLog(write: (line: string) => void): Log {
  return {
    info: (text) => write(`krmkit: ${text}\n`),
    error: (text, error) => write(`krmkit: ${text}${error === undefined ? '' : `: ${describe(error)}`}\n`),
  }
}

/** Formats an audit event as one line. */
export function requestLine(event: AuditEvent): string {
  const ms = Date.parse(event.stageTimestamp) - Date.parse(event.requestReceivedTimestamp)
  return `${event.stageTimestamp} ${event.verb} ${event.requestURI} ${event.responseStatus?.code} ${ms}ms ${event.user.username} ${event.auditID}`
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
