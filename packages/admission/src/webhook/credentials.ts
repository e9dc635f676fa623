import type { CredentialsResolver, WebhookCredentials } from './interfaces.ts'

/** The users of a kubeconfig by name, and the user of its current context. */
export interface KubeconfigUsers {
  readonly users: Readonly<Record<string, WebhookCredentials>>
  readonly current?: string | undefined
}

/**
 * Resolves credentials by the host and port of a webhook: the user of that name, then of the wildcards `*.` and a suffix of the host,
 * longest first, both also without the port 443, then `*`, then the user of the current context.
 *
 * @see API protocol specification, 2.9
 * @example
 * ```ts
 * import { createCredentialsResolver } from '@krmkit/admission/webhooks'
 *
 * const users = { '*.shop.svc': { authorization: () => 'Bearer s3cret' } }
 * createCredentialsResolver({ users })('hook.shop.svc:443')?.authorization?.() // 'Bearer s3cret'
 * ```
 */
export function createCredentialsResolver({ users, current }: KubeconfigUsers): CredentialsResolver {
  const byName = new Map(Object.entries(users))
  return (hostAndPort) => {
    const targets = hostAndPort.endsWith(':443') ? [hostAndPort, hostAndPort.slice(0, -':443'.length)] : [hostAndPort]
    for (const target of targets) {
      const found = byName.get(target) ?? findWildcard(byName, target)
      if (found !== undefined) return found
    }
    return byName.get('*') ?? (current === undefined ? undefined : byName.get(current))
  }
}

function findWildcard(byName: ReadonlyMap<string, WebhookCredentials>, target: string): WebhookCredentials | undefined {
  const labels = target.split('.')
  for (let i = 1; i < labels.length; i++) {
    const found = byName.get(`*.${labels.slice(i).join('.')}`)
    if (found !== undefined) return found
  }
  return undefined
}
