import { createClientCertificateAuthenticator } from '@krmkit/authentication'
import {
  type CertificateSigners,
  createClusterSigners,
  createSigningAuthority,
  type SignerRules,
  type SigningAuthority,
} from '@krmkit/certificates'
import { type Clock, type NamingProfile, systemRandom, type UserInfo } from '@krmkit/meta'

/** DER certificates of a client, leaf first. */
type Certificates = readonly Uint8Array[]

/** The authority of the signers of a test server and its forks; created on first use. */
export class TestAuthority {
  readonly #startAtMs: number
  readonly #profile: NamingProfile
  #authority: Promise<SigningAuthority> | undefined
  #pem = ''

  constructor(options: { readonly startAtMs: number; readonly profile: NamingProfile }) {
    this.#startAtMs = options.startAtMs
    this.#profile = options.profile
  }

  get(): Promise<SigningAuthority> {
    // The certificate is valid from the start time of the test, to which `reset` returns.
    this.#authority ??= createSigningAuthority({ clock: { now: () => this.#startAtMs }, random: systemRandom }).then(
      (authority) => {
        this.#pem = authority.certificate
        return authority
      },
    )
    return this.#authority
  }

  signers(clock: Pick<Clock, 'now'>, rules: SignerRules = {}): CertificateSigners {
    return createClusterSigners({ authority: () => this.get(), clock, random: systemRandom, profile: this.#profile, rules })
  }

  /** Returns the user of valid certificates of this authority. */
  identify(certificates: Certificates | undefined, clock: Pick<Clock, 'now'>): UserInfo | undefined {
    if (this.#pem === '' || certificates === undefined || certificates.length === 0) return undefined
    const authenticator = createClientCertificateAuthenticator({
      authorities: this.#pem,
      clock,
      profile: this.#profile,
      cacheBytes: 0,
    })
    const outcome = authenticator.authenticate({ headers: {}, peer: { certificates } })
    if (!('user' in outcome)) return undefined
    return { ...outcome.user, groups: [...outcome.user.groups, 'system:authenticated'] }
  }
}
