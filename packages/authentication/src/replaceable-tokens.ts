import type { TokenAuthenticator } from './interfaces.ts'

/** A token authenticator behind which another can be put while it is in use. */
export interface ReplaceableTokenAuthenticator extends TokenAuthenticator {
  /** Whoever asks from now on is answered by this one; answers under way stay with the one before. */
  replace(next: TokenAuthenticator): void
}

export function createReplaceableTokenAuthenticator(first: TokenAuthenticator): ReplaceableTokenAuthenticator {
  let current = first
  return {
    authenticateToken: (token, options) => current.authenticateToken(token, options),
    replace(next) {
      current = next
    },
  }
}
