import type { X509Certificate } from 'node:crypto'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import type { AuthenticationOutcome, Authenticator } from '../interfaces.ts'
import { type SubjectTexts, subjectTexts } from './certificate-fields.ts'
import { type CaBundleSource, type CertificateVerifier, createCertificateVerifier } from './certificate-verifier.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
/** Attributes of a subject; the last holds the uid of the user. */
const commonName = '2.5.4.3'
const organization = '2.5.4.10'
const uidAttribute = '1.3.6.1.4.1.57683.2'

export interface ClientCertificateOptions {
  /** PEM bundle of the authorities whose certificates are believed. A function is asked for every request. */
  readonly authorities: CaBundleSource
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'domain'>
  /** Whether a certificate may name the uid of its user. Default true, as from 1.33 on. */
  readonly withUid?: boolean
  /** Bytes of the identities of certificates that are remembered. Default 4 MiB. */
  readonly cacheBytes?: number
}

/**
 * Knows callers by the certificate they proved to own: the common name is the user name, each organisation a group. A
 * certificate of a foreign authority, or outside its time, is a rejection; no certificate is no opinion.
 *
 * @throws AuthenticationError `InvalidAuthority` when the bundle is unusable.
 */
export function createClientCertificateAuthenticator(options: ClientCertificateOptions): Authenticator {
  const { profile, withUid = true } = options
  const judge: CertificateVerifier<AuthenticationOutcome> = createCertificateVerifier(options, (leaf) =>
    authenticateLeaf(leaf, { profile, withUid }),
  )
  return {
    authenticate({ peer }) {
      const certificates = peer.certificates
      if (certificates === undefined || certificates.length === 0) return noOpinion
      const judged = judge(certificates)
      return judged.ok ? judged.value : { kind: 'rejected', reason: judged.reason }
    },
  }
}

function authenticateLeaf(
  leaf: X509Certificate,
  options: { readonly profile: Pick<NamingProfile, 'domain'>; readonly withUid: boolean },
): AuthenticationOutcome {
  const subject = subjectTexts(leaf.raw)
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

/**
 * The user that a certificate names: the last common name, every organisation, and the certificate's own digest.
 *
 * @throws RangeError when the subject cannot be read as a whole.
 */
export function userFromCertificate(certificate: X509Certificate, profile: Pick<NamingProfile, 'domain'>): UserInfo {
  return userFromSubject(subjectTexts(certificate.raw), { leaf: certificate, profile })
}

function userFromSubject(
  subject: SubjectTexts,
  { leaf, profile }: { readonly leaf: X509Certificate; readonly profile: Pick<NamingProfile, 'domain'> },
): UserInfo {
  const digest = leaf.fingerprint256.replaceAll(':', '').toLowerCase()
  return {
    username: subject.get(commonName)?.at(-1) ?? '',
    groups: subject.get(organization) ?? [],
    extra: { [`authentication.${profile.domain}/credential-id`]: [`X509SHA256=${digest}`] },
  }
}

/** The last common name of the subject; empty when there is none. @throws RangeError when the subject cannot be read as a whole. */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectTexts(certificate.raw).get(commonName)?.at(-1) ?? ''
}
