import { describe, expect, it } from 'vitest'
import type { AuthenticationRequest, TokenAuthenticator } from './interfaces.ts'
import { createWebSocketTokenAuthenticator, removeTokenProtocols } from './web-socket-token.ts'

const profile = { apiDomain: 'k8s.io' }
const seenTokens: string[] = []
const tokens: TokenAuthenticator = {
  authenticateToken(token) {
    seenTokens.push(token)
    return token === 'jane\u00fc' ? { kind: 'authenticated', user: { username: 'jane', groups: [] } } : { kind: 'noOpinion' }
  },
}
const carried = (token: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const upgrade = { connection: 'keep-alive, Upgrade', upgrade: 'WebSocket' }

async function ask(headers: AuthenticationRequest['headers']) {
  seenTokens.splice(0)
  return createWebSocketTokenAuthenticator(tokens, { profile }).authenticate({ headers, peer: {} })
}

describe('createWebSocketTokenAuthenticator', () => {
  it.each([[`${carried('jane\u00fc')}, base64.binary.k8s.io`], [['base64.binary.k8s.io', carried('jane\u00fc')]]])(
    'authenticates the subprotocols %j',
    async (protocols) => {
      expect(await ask({ ...upgrade, 'sec-websocket-protocol': protocols })).toMatchObject({ user: { username: 'jane' } })
    },
  )

  it('reads tokens only from WebSocket upgrades', async () => {
    const protocols = { 'sec-websocket-protocol': `${carried('jane\u00fc')}, x` }
    for (const headers of [
      protocols,
      { ...upgrade, ...protocols, upgrade: 'SPDY/3.1' },
      { ...upgrade, ...protocols, connection: 'close' },
    ]) {
      expect(await ask(headers)).toEqual({ kind: 'noOpinion' })
    }
    expect(await ask({ ...upgrade, 'sec-websocket-protocol': 'x' })).toEqual({ kind: 'noOpinion' })
    expect(await ask(upgrade)).toEqual({ kind: 'noOpinion' })
    expect(seenTokens).toEqual([])
  })

  it.each([
    ['an unknown token', `${carried('other')}, x`, 'invalid bearer token'],
    ['two tokens', `${carried('a')}, ${carried('b')}, x`, 'several protocols carry a token'],
    ['no other subprotocol', carried('jane\u00fc'), 'no protocol is offered beside the one that carries a token'],
    ['an empty token', 'base64url.bearer.authorization.k8s.io., x', 'the protocol that carries a token cannot be read'],
    [
      'a token that is not base64url',
      'base64url.bearer.authorization.k8s.io.a=b, x',
      'the protocol that carries a token cannot be read',
    ],
    [
      'a token that is not UTF-8',
      'base64url.bearer.authorization.k8s.io.gIA, x',
      'the protocol that carries a token cannot be read',
    ],
    ['an overlong token', `${carried('x'.repeat(70_000))}, x`, 'invalid bearer token'],
  ])('rejects %s', async (_, protocols, reason) => {
    expect(await ask({ ...upgrade, 'sec-websocket-protocol': protocols })).toEqual({ kind: 'rejected', reason })
  })

  it('removes token subprotocols from proxied requests', () => {
    expect(removeTokenProtocols(`a, ${carried('t')},b`)).toBe('a, b')
    expect(removeTokenProtocols([carried('t')])).toBeUndefined()
  })
})
