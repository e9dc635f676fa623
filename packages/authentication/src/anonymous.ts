import type { AuthenticationOutcome, Authenticator } from './interfaces.ts'

const anonymousOutcome: AuthenticationOutcome = {
  kind: 'authenticated',
  user: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
}

/** Everybody is `system:anonymous`. Belongs last in a chain; @see API protocol specification, 5.5. */
export const anonymousAuthenticator: Authenticator = { authenticate: () => anonymousOutcome }
