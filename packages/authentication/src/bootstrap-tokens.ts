import type { Clock, NamingProfile } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { isSameSecret } from './keyed-digest.ts'

/** What a Secret looks like to those who look for tokens in it: data in base64, as objects hold it. */
export interface BootstrapTokenSecret {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
  readonly metadata: { readonly deletionTimestamp?: string | null }
}

export interface BootstrapTokenOptions {
  /** The Secret of a name in the system namespace. */
  readonly secret: (name: string) => BootstrapTokenSecret | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'domain'>
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const defaultGroup = 'system:bootstrappers'

/**
 * Knows the tokens with which nodes and users join: `id.secret`, each kept in a Secret of the system namespace. The bearer
 * is `system:bootstrap:<id>`. A Secret that is on its way out, expired, of another type, for another use or malformed lets
 * nobody in.
 *
 * @see API protocol specification, 2.11 and 5.7
 */
export function createBootstrapTokenAuthenticator(options: BootstrapTokenOptions): TokenAuthenticator {
  // Objects do not change: what one says is worked out once.
  const known = new WeakMap<BootstrapTokenSecret, AuthenticationOutcome>()
  const type = `bootstrap.${options.profile.domain}/token`
  return {
    authenticateToken(token) {
      const parts = tokenForm.exec(token)
      if (parts === null) return noOpinion
      const [, id = '', given = ''] = parts
      const secret = options.secret(`bootstrap-token-${id}`)
      if (secret === undefined || secret.type !== type || isBeingDeleted(secret)) return noOpinion
      const data = (key: string) => decodedValue(secret, key)
      if (!isSameSecret(data('token-secret'), given)) return noOpinion
      if (data('token-id') !== id || data('usage-bootstrap-authentication') !== 'true') return noOpinion
      if (isExpired(data('expiration'), options.clock.now())) return noOpinion
      let outcome = known.get(secret)
      if (outcome === undefined) {
        const groups = groupsOf(data('auth-extra-groups'))
        if (groups === undefined) return noOpinion
        outcome = { kind: 'authenticated', user: { username: `system:bootstrap:${id}`, groups } }
        known.set(secret, outcome)
      }
      return outcome
    },
  }
}

function isBeingDeleted({ metadata }: BootstrapTokenSecret): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null
}

function decodedValue({ data = {} }: BootstrapTokenSecret, key: string): string {
  return Object.hasOwn(data, key) ? Buffer.from(data[key] ?? '', 'base64').toString('utf8') : ''
}

/** No time: never. A time that cannot be read: yes. */
function isExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.test(expiration)) return true
  const time = Date.parse(expiration)
  return Number.isNaN(time) || time <= now
}

/** The group of all of them and those asked for, in order and each once; undefined when one is no group of theirs. */
function groupsOf(extra: string): string[] | undefined {
  if (extra === '') return [defaultGroup]
  const asked = extra.split(',')
  if (!asked.every((group) => groupForm.test(group))) return undefined
  return [...new Set([defaultGroup, ...asked])].sort()
}
