import { systemRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { AuthenticationError } from './authentication-error.ts'
import { createBearerTokenAuthenticator } from './bearer-token.ts'
import { createAuthenticatorChain, createTokenAuthenticatorChain } from './chain.ts'
import { createOidcAuthenticator } from './oidc/oidc-authenticator.ts'
import { createStaticTokenAuthenticator, parseStaticTokens } from './static-tokens.ts'
import { createClientCertificateAuthenticator } from './x509/client-certificate.ts'

/** Calls with wrong arguments, as made by untyped callers. */

const wrong = (value: unknown) => value as never

it.each<[() => unknown, string]>([
  [() => createStaticTokenAuthenticator([], wrong(undefined)), '`random`, such as `systemRandom`, needs a function `bytes`'],
  [() => createStaticTokenAuthenticator(wrong(undefined), { random: systemRandom }), 'needs a list of { token, user }'],
  [() => createStaticTokenAuthenticator([wrong({ token: 'a' })], { random: systemRandom }), 'a static token is { token, user'],
  [() => createBearerTokenAuthenticator(wrong(undefined)), '`tokens` needs a function `authenticateToken`'],
  [() => createAuthenticatorChain(wrong(undefined)), 'createAuthenticatorChain needs a list'],
  [() => createAuthenticatorChain([wrong({})]), 'member 0 needs a function `authenticate`'],
  [() => createAuthenticatorChain([], { onRejection: wrong('foo') }), 'onRejection is remember or stop, not "foo"'],
  [() => createTokenAuthenticatorChain([wrong({})]), 'member 0 needs a function `authenticateToken`'],
  [() => parseStaticTokens(wrong(undefined)), 'parseStaticTokens needs the text of a token file'],
  [() => createOidcAuthenticator(wrong(undefined)), 'createOidcAuthenticator: `clock` needs a function `now`'],
  [() => createOidcAuthenticator(wrong({ clock: { now: () => 0 }, issuerUrl: 'https://a.test' })), 'a client id is required'],
  [() => createClientCertificateAuthenticator(wrong(undefined)), '`clock` needs a function `now`'],
  [() => createClientCertificateAuthenticator(wrong({ clock: { now: () => 0 } })), 'needs `authorities` and `profile`'],
])('call %# is an error that names the argument', (call, message) => {
  expect(call).toThrow(AuthenticationError)
  expect(call).toThrow(message)
})
