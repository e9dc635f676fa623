/** The certificate signing flags of `serve`. */
export interface SigningOptions {
  readonly clusterSigningCertFile?: string
  readonly clusterSigningKeyFile?: string
  readonly clusterSigningKubeApiserverClientCertFile?: string
  readonly clusterSigningKubeApiserverClientKeyFile?: string
  readonly clusterSigningKubeletClientCertFile?: string
  readonly clusterSigningKubeletClientKeyFile?: string
  readonly clusterSigningKubeletServingCertFile?: string
  readonly clusterSigningKubeletServingKeyFile?: string
  readonly clusterSigningLegacyUnknownCertFile?: string
  readonly clusterSigningLegacyUnknownKeyFile?: string
  /** Milliseconds. */
  readonly clusterSigningDuration: number
  readonly reportSigningFailures: boolean
  readonly requireKeyEncipherment: boolean
}
