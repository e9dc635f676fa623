/** The authorization flags. */
export interface AuthorizationOptions {
  readonly authorizationMode: readonly AuthorizationMode[]
  /** Path of an AuthorizationConfiguration; excludes modes and webhook flags. */
  readonly authorizationConfig?: string
  /** Path of the ABAC policies. */
  readonly authorizationPolicyFile?: string
  /** Path of the kubeconfig of mode Webhook. */
  readonly authorizationWebhookConfigFile?: string
  readonly authorizationWebhookVersion: 'v1' | 'v1beta1'
  /** Milliseconds. */
  readonly authorizationWebhookCacheAuthorizedTtl: number
  /** Milliseconds. */
  readonly authorizationWebhookCacheUnauthorizedTtl: number
}

/** `SystemMasters`: full access for group system:masters; all others read discovery, health and their own rights. */
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
