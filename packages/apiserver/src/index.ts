export type { AuthorizerEnvironment, AuthorizerFactory } from './access/access-control.ts'
export { endpointServices } from './aggregation/endpoint-services.ts'
export type { Aggregation, ProxyIdentity } from './aggregation/interfaces.ts'
export { AuditError, type AuditErrorCode } from './audit/audit-error.ts'
export { type BufferOptions, bufferedAudit } from './audit/buffered-backend.ts'
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
} from './audit/interfaces.ts'
export { type AuditLogFormat, auditLog, type LineSink } from './audit/log-backend.ts'
export { auditPolicy, fixedAuditPolicy } from './audit/policy.ts'
export type { AuditOption } from './audit/trails.ts'
export { type TruncateOptions, truncatedAudit } from './audit/truncated-backend.ts'
export { type AuditWebhookOptions, auditWebhook, type PostAuditEvents } from './audit/webhook-backend.ts'
export type { ConversionOptions, InProcessConverter } from './conversion/interfaces.ts'
export type { YamlTranslator } from './encoding/yaml-translator.ts'
export type { HealthCheck } from './health/health.ts'
export type { ApiServer } from './interfaces.ts'
export { softwareVersion } from './non-resource.ts'
export { createApiServer, type EmbeddedServer } from './server.ts'
export { type ApiServerOptions, defaultLimits, type ServerLimits } from './server-options.ts'
