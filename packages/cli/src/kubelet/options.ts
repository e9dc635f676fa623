/** The flags of connections to kubelets. */
export interface KubeletFlags {
  readonly kubeletCertificateAuthority?: string
  readonly kubeletClientCertificate?: string
  readonly kubeletClientKey?: string
  readonly kubeletPreferredAddressTypes: readonly string[]
}
