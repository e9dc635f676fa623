import { stringifyJson } from '@krmkit/schema'
import type { AuditBackend, AuditEvent, AuditUser } from './interfaces.ts'

/** Takes text, and resolves when it is kept. */
export interface LineSink {
  write(text: string): Promise<void>
  close?(): Promise<void>
}

/** `json`: one object a line. `legacy`: one sentence a line, which tells less. */
export type AuditLogFormat = 'json' | 'legacy'

/** Writes each entry as one line. */
export function auditLog(sink: LineSink, { format = 'json' }: { readonly format?: AuditLogFormat } = {}): AuditBackend {
  const line = format === 'json' ? (event: AuditEvent) => stringifyJson(event) : legacyLine
  return {
    process: (events) => sink.write(events.map((event) => `${line(event)}\n`).join('')),
    ...(sink.close === undefined ? {} : { close: () => sink.close?.() ?? Promise.resolve() }),
  }
}

/** As the stock server's `legacy` format. */
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

/** Nothing breaks out of its quotes, or into a line of its own. */
function quote(text: string): string {
  return JSON.stringify(text)
}
