/** The audit flags. Durations are milliseconds. */
export interface AuditOptions extends LogOptions, WebhookOptions {
  /** Undefined: nothing is audited. */
  readonly auditPolicyFile?: string
}

interface LogOptions {
  /** `-`: standard output. */
  readonly auditLogPath?: string
  readonly auditLogVersion: (typeof auditVersions)[number]
  readonly auditLogFormat: 'json' | 'legacy'
  readonly auditLogMode: AuditMode
  /** Days. */
  readonly auditLogMaxage: number
  readonly auditLogMaxbackup: number
  /** Megabytes. */
  readonly auditLogMaxsize: number
  readonly auditLogCompress: boolean
  readonly auditLogBatchBufferSize: number
  readonly auditLogBatchMaxSize: number
  readonly auditLogBatchMaxWait: number
  readonly auditLogBatchThrottleEnable: boolean
  readonly auditLogBatchThrottleQps: number
  readonly auditLogBatchThrottleBurst: number
  readonly auditLogTruncateEnabled: boolean
  /** Bytes. */
  readonly auditLogTruncateMaxEventSize: number
  readonly auditLogTruncateMaxBatchSize: number
}

interface WebhookOptions {
  readonly auditWebhookConfigFile?: string
  readonly auditWebhookInitialBackoff: number
  readonly auditWebhookVersion: (typeof auditVersions)[number]
  readonly auditWebhookMode: AuditMode
  readonly auditWebhookBatchBufferSize: number
  readonly auditWebhookBatchMaxSize: number
  readonly auditWebhookBatchMaxWait: number
  readonly auditWebhookBatchThrottleEnable: boolean
  readonly auditWebhookBatchThrottleQps: number
  readonly auditWebhookBatchThrottleBurst: number
  readonly auditWebhookTruncateEnabled: boolean
  readonly auditWebhookTruncateMaxEventSize: number
  readonly auditWebhookTruncateMaxBatchSize: number
}

/**
 * `batch`: events are written asynchronously. `blocking`: requests wait for the write. `blocking-strict`: a request whose event of stage
 * RequestReceived cannot be written fails.
 */
export type AuditMode = 'batch' | 'blocking' | 'blocking-strict'

export const auditVersions = ['audit.k8s.io/v1'] as const

export const auditModes: readonly AuditMode[] = ['batch', 'blocking', 'blocking-strict']
