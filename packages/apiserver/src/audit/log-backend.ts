import { stringifyJson } from '@krmkit/schema'
import type { AuditBackend, AuditEvent, AuditUser } from './interfaces.ts'

/** Appends text, and resolves when it is written. */
export interface LineSink {
  write(text: string): Promise<void>
  close?(): Promise<void>
}

/** `json`: one JSON object per line. `legacy`: one line of `key=value` pairs, without bodies. */
export type AuditLogFormat = 'json' | 'legacy'

/**
 * Writes each event as one line.
 *
 * @example
 * ```ts
 * import { appendFile } from 'node:fs/promises'
 * import { createApiServer } from '@krmkit/apiserver'
 * import { auditLog, fixedAuditPolicy } from '@krmkit/apiserver/audit'
 * import { memoryStorage } from '@krmkit/storage'
 *
 * const backend = auditLog({ write: (text) => appendFile('audit.log', text) })
 * const audit = { policy: fixedAuditPolicy('Metadata'), backend }
 * await using server = await createApiServer({ storage: memoryStorage(), audit })
 * ```
 */
export function auditLog(sink: LineSink, { format = 'json' }: { readonly format?: AuditLogFormat } = {}): AuditBackend {
  const line = format === 'json' ? (event: AuditEvent) => stringifyJson(event) : legacyLine
  return {
    process: (events) => sink.write(events.map((event) => `${line(event)}\n`).join('')),
    ...(sink.close === undefined ? {} : { close: () => sink.close?.() ?? Promise.resolve() }),
  }
}

/** The `legacy` format of kube-apiserver. */
function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus } = event
  const parts = [
    `id=${quote(event.auditID)}`,
    `stage=${quote(event.stage)}`,
    `ip=${quote(event.sourceIPs?.[0] ?? '<unknown>')}`,
    `method=${quote(event.verb)}`,
    `user=${quote(user.username ?? '<none>')}`,
    `groups=${groupsOf(user, '"<none>"')}`,
    `as=${quote(impersonatedUser === undefined ? '<self>' : (impersonatedUser.username ?? ''))}`,
    `asgroups=${impersonatedUser === undefined ? '"<lookup>"' : groupsOf(impersonatedUser, '"<lookup>"')}`,
    `user-agent=${quote(event.userAgent ?? '')}`,
    `namespace=${quote(objectRef?.namespace ?? '<none>')}`,
    `uri=${quote(event.requestURI)}`,
    `response="${responseStatus === undefined ? '<deferred>' : responseStatus.code}"`,
  ]
  return `${event.requestReceivedTimestamp} AUDIT: ${parts.join(' ')}`
}

function groupsOf({ groups = [] }: AuditUser, none: string): string {
  return groups.length === 0 ? none : groups.map(quote).join(',')
}

/** Escapes quotes and line breaks, so that values cannot forge fields or lines. */
function quote(text: string): string {
  return JSON.stringify(text)
}
