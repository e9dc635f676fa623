/** The flags of `krmkit storage migrate`. */
export interface MigrateFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly output: 'text' | 'json'
}
