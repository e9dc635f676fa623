import type { Clock, Random, UserInfo } from '@krmkit/meta'
import type { AuthenticationRequest } from '../interfaces.ts'
import { type CertificateAuthority, createCertificateAuthority, type IssuedCertificate } from './certificate-authority.ts'

/** A proxy that authenticates callers, with the authority that vouches for it. */
export interface FakeFrontProxy {
  readonly authority: CertificateAuthority
  /** The certificate of the proxy; its common name is `front-proxy`. */
  readonly proxy: IssuedCertificate
  /** What the proxy passes on for a caller, with the usual headers. */
  request(user: UserInfo): AuthenticationRequest
}

export function createFakeFrontProxy(options: {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}): FakeFrontProxy {
  const authority = createCertificateAuthority({ name: 'front proxy authority', ...options })
  const proxy = authority.issue({ commonName: 'front-proxy' })
  return { authority, proxy, request: (user) => ({ headers: proxyHeaders(user), peer: proxy.peer }) }
}

/** The headers by which a proxy says who a caller is. */
export function proxyHeaders({ username, uid, groups, extra = {} }: UserInfo): Record<string, string | readonly string[]> {
  return {
    'x-remote-user': username,
    ...(uid === undefined ? {} : { 'x-remote-uid': uid }),
    ...(groups.length === 0 ? {} : { 'x-remote-group': groups }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`, values]),
    ),
  }
}
