import type { BootstrapSigningKey, BootstrapTokenUsage } from '@krmkit/certificates'

/** Spelt out here, so that a command line is read without what signs. */
export const signingKeys: readonly BootstrapSigningKey[] = ['token-secret', 'full-token']
export const tokenUsages: readonly BootstrapTokenUsage[] = ['signing', 'authentication']

/** The group that tokens are made for unless others are named. */
export const joiningGroup = 'system:bootstrappers:kubeadm:default-node-token'

/** What the flags of `serve` say about joining. */
export interface JoinOptions {
  /** Keep cluster information in the public namespace, with what those need who join. */
  readonly publishClusterInfo: boolean
  readonly bootstrapSigningKey: BootstrapSigningKey
}
