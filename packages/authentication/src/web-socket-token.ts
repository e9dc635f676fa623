import { authenticateBearerToken, type BearerTokenOptions } from './bearer-token.ts'
import type { AuthenticationOutcome, AuthenticationRequest, Authenticator, TokenAuthenticator } from './interfaces.ts'

/** Bearer tokens in WebSocket subprotocols: browsers cannot set headers of a WebSocket request. */

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
/** Prefix of the subprotocol, followed by the API domain, a dot, and the token in unpadded base64url. */
const carrierPrefix = 'base64url.bearer.authorization.'
const base64Url = /^[A-Za-z0-9_-]+$/

/**
 * Authenticates the token of `Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.TOKEN, other` in WebSocket upgrades. The
 * request must offer another subprotocol as well, because the token is never selected.
 *
 * @example
 * ```ts
 * import { createStaticTokenAuthenticator, createWebSocketTokenAuthenticator } from '@krmkit/authentication'
 * import { stockProfile as profile, systemRandom } from '@krmkit/meta'
 *
 * const known = [{ token: 's3cret', user: { username: 'jane', groups: [] } }]
 * const tokens = createStaticTokenAuthenticator(known, { random: systemRandom })
 * const { authenticate } = createWebSocketTokenAuthenticator(tokens, { profile })
 * const protocols = `base64url.bearer.authorization.k8s.io.${btoa('s3cret')}, v5.channel.k8s.io`
 * const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocols }
 * await authenticate({ headers, peer: {} }) // { kind: 'authenticated', user: { username: 'jane', groups: [] } }
 * ```
 */
export function createWebSocketTokenAuthenticator(
  tokens: TokenAuthenticator,
  options: BearerTokenOptions & { readonly profile: { readonly apiDomain: string } },
): Authenticator {
  const prefix = `${carrierPrefix}${options.profile.apiDomain}.`
  return {
    authenticate(request) {
      if (!isWebSocketUpgrade(request.headers)) return noOpinion
      const offered = offeredProtocols(request.headers)
      const carriers = offered.filter((name) => name.startsWith(prefix))
      const [carrier] = carriers
      if (carrier === undefined) return noOpinion
      if (carriers.length > 1) return rejected('several protocols carry a token')
      const encoded = carrier.slice(prefix.length)
      const token = base64Url.test(encoded) ? decodeToken(encoded) : undefined
      if (token === undefined) return rejected('the protocol that carries a token cannot be read')
      if (offered.length === 1) return rejected('no protocol is offered beside the one that carries a token')
      return authenticateBearerToken(tokens, token, request, options)
    },
  }
}

/**
 * Removes subprotocols that carry tokens, for proxied requests; undefined when none is left.
 *
 * @example
 * ```ts
 * import { removeTokenProtocols } from '@krmkit/authentication/headers'
 *
 * removeTokenProtocols('base64url.bearer.authorization.k8s.io.czNjcmV0, v5.channel.k8s.io') // 'v5.channel.k8s.io'
 * ```
 */
export function removeTokenProtocols(header: string | readonly string[]): string | undefined {
  const kept = splitProtocols(header).filter((name) => !name.startsWith(carrierPrefix))
  return kept.length === 0 ? undefined : kept.join(', ')
}

function isWebSocketUpgrade({ upgrade, connection }: AuthenticationRequest['headers']): boolean {
  const wants = [connection ?? []].flat().some((value) => /(^|[\s,])upgrade($|[\s,])/i.test(value))
  return wants && [upgrade ?? []].flat()[0]?.toLowerCase() === 'websocket'
}

function offeredProtocols(headers: AuthenticationRequest['headers']): string[] {
  return splitProtocols(headers['sec-websocket-protocol'] ?? [])
}

function splitProtocols(header: string | readonly string[]): string[] {
  return [header].flat().flatMap((value) => value.split(',').map((name) => name.trim()))
}

function decodeToken(encoded: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(encoded.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function rejected(reason: string): AuthenticationOutcome {
  return { kind: 'rejected', reason }
}
