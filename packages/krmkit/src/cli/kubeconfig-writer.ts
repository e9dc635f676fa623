/** Formats a kubeconfig with one cluster, one user and one context. */
export function kubeconfigText(options: {
  readonly server: string
  /** PEM; undefined: the authorities of the platform are trusted. */
  readonly authority: string | undefined
  readonly token: string
  /** Default: `krmkit` and `krmkit-admin`. */
  readonly names?: { readonly cluster: string; readonly user: string }
}): string {
  const { cluster, user } = options.names ?? { cluster: 'krmkit', user: 'krmkit-admin' }
  const quote = (text: string) => JSON.stringify(text)
  const authority =
    options.authority === undefined
      ? ''
      : `\n    certificate-authority-data: ${Buffer.from(options.authority, 'utf8').toString('base64')}`
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${quote(options.server)}${authority}
users:
- name: ${user}
  user:
    token: ${quote(options.token)}
contexts:
- name: ${cluster}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${cluster}
`
}
