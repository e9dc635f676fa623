/** The text of a kubeconfig with one cluster, one user and one context that joins them. */
export function kubeconfigText(options: {
  readonly server: string
  /** PEM; absent: the platform's authorities are trusted. */
  readonly authority: string | undefined
  readonly token: string
}): string {
  const quote = (text: string) => JSON.stringify(text)
  const authority =
    options.authority === undefined
      ? ''
      : `\n    certificate-authority-data: ${Buffer.from(options.authority, 'utf8').toString('base64')}`
  return `apiVersion: v1
kind: Config
clusters:
- name: krmkit
  cluster:
    server: ${quote(options.server)}${authority}
users:
- name: krmkit-admin
  user:
    token: ${quote(options.token)}
contexts:
- name: krmkit
  context:
    cluster: krmkit
    user: krmkit-admin
current-context: krmkit
`
}
