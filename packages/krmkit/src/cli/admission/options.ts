/** What flags say about admission. */
export interface AdmissionOptions {
  readonly enableAdmissionPlugins: readonly string[]
  readonly disableAdmissionPlugins: readonly string[]
  /** Path. */
  readonly admissionControlConfigFile?: string
  readonly defaultNotReadyTolerationSeconds?: number
  readonly defaultUnreachableTolerationSeconds?: number
}
