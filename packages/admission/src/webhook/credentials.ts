import type { CredentialsFor, WebhookCredentials } from './interfaces.ts'

/** The users of a connection file, by name, and the one of its current context. */
export interface CredentialUsers {
  readonly users: Readonly<Record<string, WebhookCredentials>>
  readonly current?: string | undefined
}

/**
 * Chooses credentials by the host and port of a webhook: a user of exactly that name, then `*.` and less and less of the host, both
 * also without the port of HTTPS, then `*`, then the user of the current context.
 *
 * @see API protocol specification, 2.9
 */
export function credentialsByHost({ users, current }: CredentialUsers): CredentialsFor {
  const byName = new Map(Object.entries(users))
  return (hostAndPort) => {
    const targets = hostAndPort.endsWith(':443') ? [hostAndPort, hostAndPort.slice(0, -':443'.length)] : [hostAndPort]
    for (const target of targets) {
      const found = byName.get(target) ?? starred(byName, target)
      if (found !== undefined) return found
    }
    return byName.get('*') ?? (current === undefined ? undefined : byName.get(current))
  }
}

function starred(byName: ReadonlyMap<string, WebhookCredentials>, target: string): WebhookCredentials | undefined {
  const steps = target.split('.')
  for (let i = 1; i < steps.length; i++) {
    const found = byName.get(`*.${steps.slice(i).join('.')}`)
    if (found !== undefined) return found
  }
  return undefined
}
