import type { X509Certificate } from 'node:crypto'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import { invalidArgument, requireMethod } from '../arguments.ts'
import type { AuthenticationOutcome, Authenticator } from '../interfaces.ts'
import { type SubjectAttributes, subjectAttributesOf } from './certificate-fields.ts'
import { type CaBundleSource, type CertificateVerifier, createCertificateVerifier } from './certificate-verifier.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
/** Attribute types of the subject. */
const commonName = '2.5.4.3'
const organization = '2.5.4.10'
const uidAttribute = '1.3.6.1.4.1.57683.2'

export interface ClientCertificateOptions {
  /** PEM bundle of trusted authorities. A function is called for every request, and may return a rotated bundle. */
  readonly authorities: CaBundleSource
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'domain'>
  /** Whether the certificate may set the uid of the user. Default true, as in Kubernetes since 1.33. */
  readonly withUid?: boolean
  /** Size of the identity cache, in bytes. Default 4 MiB. */
  readonly cacheBytes?: number
}

/**
 * Authenticates TLS client certificates: the common name is the user name, each organization a group. A certificate of an unknown
 * authority, or outside its validity, is rejected; without a certificate there is no opinion.
 *
 * @throws AuthenticationError `InvalidAuthority` when the bundle is invalid.
 * @example
 * ```ts
 * import { createClientCertificateAuthenticator } from '@krmkit/authentication'
 * import { createCertificateAuthority } from '@krmkit/authentication/testing'
 * import { stockProfile, systemClock as clock, systemRandom } from '@krmkit/meta'
 *
 * const authority = createCertificateAuthority({ name: 'shop', clock, random: systemRandom })
 * const authorities = authority.certificate
 * const { authenticate } = createClientCertificateAuthenticator({ authorities, clock, profile: stockProfile })
 * const { peer } = authority.issue({ commonName: 'jane', organizations: ['dev'] })
 * authenticate({ headers: {}, peer }) // user: { username: 'jane', groups: ['dev'], ... }
 * ```
 */
export function createClientCertificateAuthenticator(options: ClientCertificateOptions): Authenticator {
  const given = (options ?? {}) as Partial<ClientCertificateOptions>
  requireMethod('createClientCertificateAuthenticator: `clock`', given.clock, 'now')
  if (given.authorities === undefined || typeof given.profile?.domain !== 'string')
    throw invalidArgument('createClientCertificateAuthenticator needs `authorities` and `profile`, such as `stockProfile`')
  const { profile, withUid = true } = options
  const verify: CertificateVerifier<AuthenticationOutcome> = createCertificateVerifier(options, (leaf) =>
    authenticateLeaf(leaf, { profile, withUid }),
  )
  return {
    authenticate({ peer }) {
      const certificates = peer.certificates
      if (certificates === undefined || certificates.length === 0) return noOpinion
      const verification = verify(certificates)
      return verification.ok ? verification.value : { kind: 'rejected', reason: verification.reason }
    },
  }
}

function authenticateLeaf(
  leaf: X509Certificate,
  options: { readonly profile: Pick<NamingProfile, 'domain'>; readonly withUid: boolean },
): AuthenticationOutcome {
  const subject = subjectAttributesOf(leaf.raw)
  const user = userFromSubject(subject, { leaf, ...options })
  if (user.username === '') return noOpinion
  if (!options.withUid) return { kind: 'authenticated', user }
  const uids = subject.get(uidAttribute) ?? []
  if (uids.length === 0) return { kind: 'authenticated', user }
  const [uid = '', ...more] = uids
  if (more.length > 0 || uid === '')
    return { kind: 'rejected', reason: 'the certificate names more than one uid, or an empty one' }
  return { kind: 'authenticated', user: { ...user, uid } }
}

/** The user that a certificate identifies: last common name, every organization, and the fingerprint as credential id. */
function userFromSubject(
  subject: SubjectAttributes,
  { leaf, profile }: { readonly leaf: X509Certificate; readonly profile: Pick<NamingProfile, 'domain'> },
): UserInfo {
  const digest = leaf.fingerprint256.replaceAll(':', '').toLowerCase()
  return {
    username: subject.get(commonName)?.at(-1) ?? '',
    groups: subject.get(organization) ?? [],
    extra: { [`authentication.${profile.domain}/credential-id`]: [`X509SHA256=${digest}`] },
  }
}

/**
 * Returns the last common name of the subject; empty when absent. @throws BaseError `InvalidDer` when the subject cannot be
 * parsed completely.
 */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectAttributesOf(certificate.raw).get(commonName)?.at(-1) ?? ''
}
