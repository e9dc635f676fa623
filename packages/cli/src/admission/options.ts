/** The admission flags. */
export interface AdmissionOptions {
  readonly enableAdmissionPlugins: readonly string[]
  readonly disableAdmissionPlugins: readonly string[]
  /** Path of an AdmissionConfiguration. */
  readonly admissionControlConfigFile?: string
  readonly defaultNotReadyTolerationSeconds?: number
  readonly defaultUnreachableTolerationSeconds?: number
}
