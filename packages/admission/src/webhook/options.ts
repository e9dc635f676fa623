import type { CallerOptions } from './caller.ts'
import type { MatchConditions } from './interfaces.ts'

/** What the webhook plugins are made of. One value serves both. */
export interface WebhookOptions extends CallerOptions {
  /** Absent: webhooks with conditions cannot be decided about, and requests that they might concern are refused. */
  readonly conditions?: MatchConditions | undefined
}
