import type { AuthenticationOutcome, Authenticator } from './interfaces.ts'

const anonymousOutcome: AuthenticationOutcome = {
  kind: 'authenticated',
  user: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
}
const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

/** Authenticates every request as `system:anonymous`. Place it last in a chain. @see API protocol specification, 5.5 */
export const anonymousAuthenticator: Authenticator = { authenticate: () => anonymousOutcome }

/**
 * Authenticates requests to exactly these paths as `system:anonymous`; an empty list allows all paths.
 *
 * @example
 * ```ts
 * import { createAnonymousAuthenticator } from '@krmkit/authentication'
 *
 * const { authenticate } = createAnonymousAuthenticator(['/healthz'])
 * authenticate({ path: '/healthz', headers: {}, peer: {} }) // user: { username: 'system:anonymous', ... }
 * authenticate({ path: '/api', headers: {}, peer: {} }) // { kind: 'noOpinion' }
 * ```
 */
export function createAnonymousAuthenticator(paths: readonly string[]): Authenticator {
  if (paths.length === 0) return anonymousAuthenticator
  const open = new Set(paths)
  return { authenticate: ({ path }) => (path !== undefined && open.has(path) ? anonymousOutcome : noOpinion) }
}
