import type { UserInfo } from '@krmkit/meta'

/**
 * Result of an authenticator, which inspects a request, or of a token authenticator, which inspects a bearer token.
 *
 *     authenticated   the credential is valid; the chain ends
 *     noOpinion       the request has no credential of this type; the chain continues
 *     rejected        the request has a credential of this type, and it is invalid
 */
export type AuthenticationOutcome =
  | {
      readonly kind: 'authenticated'
      readonly user: UserInfo
      /** Requested audiences that the token is valid for; absent for credentials without audiences. */
      readonly audiences?: readonly string[]
      /** Expiry of the credential, in milliseconds since the epoch; the outcome must not be cached longer. */
      readonly expiresAt?: number
      /** Texts of Warning headers for the client. */
      readonly warnings?: readonly string[]
      /** Audit annotations about the credential. */
      readonly annotations?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'noOpinion' }
  | {
      readonly kind: 'rejected'
      /** For logs, audit events and token reviews. It contains no part of a credential and no details of backends. */
      readonly reason: string
      /** Message for the client in place of "Unauthorized". */
      readonly message?: string
    }

/** The input of an authenticator. An `ApiRequest` of `@krmkit/apiserver` satisfies it. */
export interface AuthenticationRequest {
  /** Keys in lower case; repeated headers as arrays. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Whether the adapter joins repeated headers with a comma and a space, as the Fetch API does. */
  readonly headersJoined?: boolean | undefined
  /** Path of the request, without the query. */
  readonly path?: string
  readonly peer: {
    readonly address?: string
    /** DER certificates of the TLS handshake, leaf first. Possession of the key is proven; the chain is not verified. */
    readonly certificates?: readonly Uint8Array[]
  }
  /** Audiences that a token must be valid for; absent: the audiences of the API server. */
  readonly audiences?: readonly string[]
  readonly signal?: AbortSignal
}

/** Authenticates requests. Returns synchronously where possible, which saves a turn of the event loop. */
export interface Authenticator {
  authenticate(request: AuthenticationRequest): AuthenticationOutcome | Promise<AuthenticationOutcome>
}

/** Options of one token authentication. */
export interface TokenRequestOptions {
  /** Audiences that the token must be valid for; absent: those of the API server. */
  readonly audiences?: readonly string[]
  readonly signal?: AbortSignal
  /** Keyed digest of the token, computed lazily and at most once for all authenticators of a chain. */
  readonly digest?: TokenDigest
}

/** A lazily computed keyed digest of a token. */
export interface TokenDigest {
  /** The digest function. Digests are comparable only if they were made by the same function. */
  readonly by: (text: string) => string
  value(): string
}

/** Authenticates bearer tokens. Returns synchronously where possible. */
export interface TokenAuthenticator {
  authenticateToken(token: string, options?: TokenRequestOptions): AuthenticationOutcome | Promise<AuthenticationOutcome>
}
