import { createClientCertificateAuthenticator } from '@krmkit/authentication'
import {
  type CertificateSigners,
  createClusterSigners,
  createSigningAuthority,
  type SigningAuthority,
} from '@krmkit/certificates'
import { type Clock, type NamingProfile, systemRandom, type UserInfo } from '@krmkit/meta'

/** Certificates that a caller proved to own, leaf first, in DER. */
type Certificates = readonly Uint8Array[]

/** The authority behind the signers of a test server and its forks; made when it is first needed. */
export class TestAuthority {
  readonly #startAtMs: number
  readonly #profile: NamingProfile
  #made: Promise<SigningAuthority> | undefined
  #pem = ''

  constructor(options: { readonly startAtMs: number; readonly profile: NamingProfile }) {
    this.#startAtMs = options.startAtMs
    this.#profile = options.profile
  }

  get(): Promise<SigningAuthority> {
    // Good from the start of the test's time on, which `reset` goes back to.
    this.#made ??= createSigningAuthority({ clock: { now: () => this.#startAtMs }, random: systemRandom }).then((made) => {
      this.#pem = made.certificate
      return made
    })
    return this.#made
  }

  signers(clock: Pick<Clock, 'now'>): CertificateSigners {
    return createClusterSigners({ authority: () => this.get(), clock, random: systemRandom, profile: this.#profile })
  }

  /** Who comes with these certificates, at this time of the test; nobody when they are another's. */
  identify(certificates: Certificates | undefined, clock: Pick<Clock, 'now'>): UserInfo | undefined {
    if (this.#pem === '' || certificates === undefined || certificates.length === 0) return undefined
    const known = createClientCertificateAuthenticator({ authorities: this.#pem, clock, profile: this.#profile, cacheBytes: 0 })
    const outcome = known.authenticate({ headers: {}, peer: { certificates } })
    if (outcome instanceof Promise || outcome.kind !== 'authenticated') return undefined
    return { ...outcome.user, groups: [...outcome.user.groups, 'system:authenticated'] }
  }
}
