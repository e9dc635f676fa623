/** What the flags say about who may do what. */
export interface AuthorizationOptions {
  readonly authorizationMode: readonly AuthorizationMode[]
  /** File of an AuthorizationConfiguration, instead of modes and flags of the webhook. */
  readonly authorizationConfig?: string
  /** File of policies, for mode ABAC. */
  readonly authorizationPolicyFile?: string
  /** Kubeconfig that leads to the webhook, for mode Webhook. */
  readonly authorizationWebhookConfigFile?: string
  readonly authorizationWebhookVersion: 'v1' | 'v1beta1'
  /** Milliseconds. */
  readonly authorizationWebhookCacheAuthorizedTtl: number
  /** Milliseconds. */
  readonly authorizationWebhookCacheUnauthorizedTtl: number
}

/** `SystemMasters`: group system:masters may do everything, others may read discovery, health and their own rights. */
export type AuthorizationMode = 'Node' | 'RBAC' | 'Webhook' | 'ABAC' | 'AlwaysAllow' | 'AlwaysDeny' | 'SystemMasters'

export const authorizationModes: readonly AuthorizationMode[] = [
  'Node',
  'RBAC',
  'Webhook',
  'ABAC',
  'AlwaysAllow',
  'AlwaysDeny',
  'SystemMasters',
]
