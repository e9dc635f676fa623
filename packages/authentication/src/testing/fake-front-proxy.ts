import type { Clock, Random, UserInfo } from '@krmkit/meta'
import type { AuthenticationRequest } from '../interfaces.ts'
import { type CertificateAuthority, createCertificateAuthority, type IssuedCertificate } from './certificate-authority.ts'

/** An authenticating proxy with its certificate authority. */
export interface FakeFrontProxy {
  readonly authority: CertificateAuthority
  /** Client certificate of the proxy, with common name `front-proxy`. */
  readonly proxy: IssuedCertificate
  /** The request that the proxy forwards for a user, with the default headers. */
  request(user: UserInfo): AuthenticationRequest
}

/**
 * Creates an authenticating proxy with a client certificate of a new authority.
 *
 * @example
 * ```ts
 * import { createFakeFrontProxy } from '@krmkit/authentication/testing'
 * import { seededRandom, systemClock } from '@krmkit/meta'
 *
 * const proxy = createFakeFrontProxy({ clock: systemClock, random: seededRandom(1) })
 * proxy.request({ username: 'jane', groups: ['dev'] }).headers // { 'x-remote-user': 'jane', 'x-remote-group': ['dev'] }
 * ```
 */
export function createFakeFrontProxy(options: {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}): FakeFrontProxy {
  const authority = createCertificateAuthority({ name: 'front proxy authority', ...options })
  const proxy = authority.issue({ commonName: 'front-proxy' })
  return { authority, proxy, request: (user) => ({ headers: proxyHeaders(user), peer: proxy.peer }) }
}

/** The default `x-remote-*` headers for a user. */
function proxyHeaders({ username, uid, groups, extra = {} }: UserInfo): Record<string, string | readonly string[]> {
  return {
    'x-remote-user': username,
    ...(uid === undefined ? {} : { 'x-remote-uid': uid }),
    ...(groups.length === 0 ? {} : { 'x-remote-group': groups }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`, values]),
    ),
  }
}
