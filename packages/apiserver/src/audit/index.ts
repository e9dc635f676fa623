export { AuditError, type AuditErrorCode } from './audit-error.ts'
export { type BufferOptions, bufferedAudit } from './buffered-backend.ts'
export type {
  AuditAttributes,
  AuditBackend,
  AuditDecision,
  AuditEvent,
  AuditLevel,
  AuditObjectRef,
  AuditPolicy,
  AuditSink,
  AuditStage,
  AuditStatus,
  AuditTrail,
  AuditUser,
} from './interfaces.ts'
export { type AuditLogFormat, auditLog, type LineSink } from './log-backend.ts'
export { auditPolicy, fixedAuditPolicy } from './policy.ts'
export type { AuditOption } from './trails.ts'
export { type TruncateOptions, truncatedAudit } from './truncated-backend.ts'
export { type AuditWebhookOptions, auditWebhook, type PostAuditEvents } from './webhook-backend.ts'
