import { base64Bytes, utf8Text } from '@krmkit/base/bytes'
import { equalSecrets } from '@krmkit/base/platform'
import type { Clock, NamingProfile } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'

/** The fields of a Secret with a bootstrap token; values of `data` are base64. */
export interface BootstrapTokenSecret {
  readonly type?: string
  readonly metadata: { readonly name?: string; readonly deletionTimestamp?: string | null }
  readonly data?: Readonly<Record<string, string>>
}

export interface BootstrapTokenOptions {
  /** Returns the Secret with a name in the system namespace. */
  readonly secret: (name: string) => BootstrapTokenSecret | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'domain'>
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const defaultGroup = 'system:bootstrappers'

/**
 * Authenticates bootstrap tokens (`id.secret`), which are stored in Secrets of the system namespace, as
 * `system:bootstrap:<id>`. A Secret does not authenticate if it is terminating, expired, malformed, of another type, or
 * without the usage `authentication`.
 *
 * @see API protocol specification, 2.11 and 5.7
 * @example
 * ```ts
 * import { createBootstrapTokenAuthenticator } from '@krmkit/authentication'
 * import { bootstrapTokenSecret } from '@krmkit/certificates/bootstrap'
 * import { stockProfile, systemClock } from '@krmkit/meta'
 *
 * const stored = bootstrapTokenSecret({ id: 'abcdef', secret: '0123456789abcdef' })
 * const secret = (name: string) => (name === stored.metadata.name ? stored : undefined)
 * const tokens = createBootstrapTokenAuthenticator({ secret, clock: systemClock, profile: stockProfile })
 * tokens.authenticateToken('abcdef.0123456789abcdef') // user: { username: 'system:bootstrap:abcdef', ... }
 * ```
 */
export function createBootstrapTokenAuthenticator(options: BootstrapTokenOptions): TokenAuthenticator {
  // Outcomes are cached per object, because stored objects are immutable.
  const outcomes = new WeakMap<BootstrapTokenSecret, AuthenticationOutcome>()
  const type = `bootstrap.${options.profile.domain}/token`
  return {
    authenticateToken(token) {
      const parts = tokenForm.exec(token)
      if (parts === null) return noOpinion
      const [, id = '', given = ''] = parts
      const secret = options.secret(`bootstrap-token-${id}`)
      if (secret === undefined || secret.type !== type || isBeingDeleted(secret)) return noOpinion
      const data = (key: string) => decodedValue(secret, key)
      if (!equalSecrets(data('token-secret'), given)) return noOpinion
      if (data('token-id') !== id || data('usage-bootstrap-authentication') !== 'true') return noOpinion
      if (isExpired(data('expiration'), options.clock.now())) return noOpinion
      let outcome = outcomes.get(secret)
      if (outcome === undefined) {
        const groups = groupsOf(data('auth-extra-groups'))
        if (groups === undefined) return noOpinion
        outcome = { kind: 'authenticated', user: { username: `system:bootstrap:${id}`, groups } }
        outcomes.set(secret, outcome)
      }
      return outcome
    },
  }
}

function isBeingDeleted({ metadata }: BootstrapTokenSecret): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null
}

function decodedValue({ data = {} }: BootstrapTokenSecret, key: string): string {
  return Object.hasOwn(data, key) ? utf8Text(base64Bytes(data[key] ?? '')) : ''
}

/** Whether an expiration has passed. Empty means that the token never expires; a malformed expiration counts as passed. */
function isExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.test(expiration)) return true
  const time = Date.parse(expiration)
  return Number.isNaN(time) || time <= now
}

/**
 * Returns the default group and the extra groups, sorted and unique; undefined when an extra group is not a bootstrap group.
 */
function groupsOf(extra: string): string[] | undefined {
  if (extra === '') return [defaultGroup]
  const extraGroups = extra.split(',')
  if (!extraGroups.every((group) => groupForm.test(group))) return undefined
  return [...new Set([defaultGroup, ...extraGroups])].sort()
}
