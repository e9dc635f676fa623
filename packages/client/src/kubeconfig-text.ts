export interface KubeconfigTextOptions {
  /** URL of the server. */
  readonly server: string
  /** PEM of the trusted authorities; undefined to trust the authorities of the platform. */
  readonly authority: string | undefined
  /** Bearer token. */
  readonly token: string
  /** Default: `krmkit` and `krmkit-admin`. */
  readonly names?: { readonly cluster: string; readonly user: string }
  /** Namespace of the context. Default: none, which means `default`. */
  readonly namespace?: string
}

/**
 * Formats a kubeconfig with one cluster, one user and one context.
 *
 * @example
 * import { kubeconfigText } from '@krmkit/client'
 * kubeconfigText({ server: 'https://127.0.0.1:6443', authority: undefined, token: 'secret' })
 */
export function kubeconfigText(options: KubeconfigTextOptions): string {
  const { cluster, user } = options.names ?? { cluster: 'krmkit', user: 'krmkit-admin' }
  const quote = (text: string) => JSON.stringify(text)
  const authority =
    options.authority === undefined
      ? ''
      : `\n    certificate-authority-data: ${Buffer.from(options.authority, 'utf8').toString('base64')}`
  const namespace = options.namespace === undefined ? '' : `\n    namespace: ${quote(options.namespace)}`
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
    user: ${user}${namespace}
current-context: ${cluster}
`
}
