import type { BootstrapSigningKey, BootstrapTokenUsage } from '@krmkit/certificates/bootstrap'

/** Repeated here, so that parsing a command line does not load the signing code. */
export const signingKeys: readonly BootstrapSigningKey[] = ['token-secret', 'full-token']
export const tokenUsages: readonly BootstrapTokenUsage[] = ['signing', 'authentication']

/** The default group of tokens. */
export const joiningGroup = 'system:bootstrappers:kubeadm:default-node-token'

/** The bootstrap token flags of `serve`. */
export interface JoinOptions {
  /** Publish cluster-info and the RBAC rules of joining nodes. */
  readonly publishClusterInfo: boolean
  readonly bootstrapSigningKey: BootstrapSigningKey
}
