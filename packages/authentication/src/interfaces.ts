import type { UserInfo } from '@krmkit/meta'

/**
 * Who is calling? An authenticator looks at the head of a request, a token authenticator at a bearer token; both give one
 * of three answers. Chains are arrays in the order of asking.
 *
 *     authenticated   this is who it is; nobody else is asked
 *     noOpinion       nothing here that I know; ask the next one
 *     rejected        there was a credential of my kind and it is bad
 */
export type AuthenticationOutcome =
  | {
      readonly kind: 'authenticated'
      readonly user: UserInfo
      /** Audiences of the token that are also accepted here; absent when the credential has none. */
      readonly audiences?: readonly string[]
      /** The credential is not good beyond this time, in milliseconds since the epoch: do not keep the answer longer. */
      readonly expiresAt?: number
      /** What the caller should be told, as Warning headers. */
      readonly warnings?: readonly string[]
      /** What the audit trail should say about the credential, by annotation key. */
      readonly annotations?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'noOpinion' }
  | {
      readonly kind: 'rejected'
      /**
       * For the log, the audit trail and token reviews; the caller only learns "Unauthorized". Holds no part of a credential
       * and nothing about what stands behind the server.
       */
      readonly reason: string
    }

/** What an authenticator may look at. An `ApiRequest` of `@krmkit/apiserver` is one. */
export interface AuthenticationRequest {
  /** Names in lower case; repeated headers as separate values. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Repeated headers may have been joined into one, separated by a comma and a space. */
  readonly headersJoined?: boolean | undefined
  /** What is asked for, without the query. */
  readonly path?: string
  readonly peer: {
    readonly address?: string
    /** DER certificates whose key the client proved to hold, leaf first. Not yet verified against any authority. */
    readonly certificates?: readonly Uint8Array[]
  }
  /** Audiences that a token shall be good for; absent: those of the server itself. */
  readonly audiences?: readonly string[]
  readonly signal?: AbortSignal
}

/** Answers at once where it can: a synchronous answer costs no turn of the event loop. */
export interface Authenticator {
  authenticate(request: AuthenticationRequest): AuthenticationOutcome | Promise<AuthenticationOutcome>
}

export interface TokenRequestOptions {
  /** Those that the caller wants the token to be good for; absent: those of the server itself. */
  readonly audiences?: readonly string[]
  readonly signal?: AbortSignal
  /** HMAC of the token under a key of whoever asks, worked out once for all who want it. */
  readonly digest?: TokenDigest
}

export interface TokenDigest {
  /** What works it out: who has kept digests may compare only those of the same function. */
  readonly by: (text: string) => string
  value(): string
}

export interface TokenAuthenticator {
  authenticateToken(token: string, options?: TokenRequestOptions): AuthenticationOutcome | Promise<AuthenticationOutcome>
}
