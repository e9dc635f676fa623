import { describe, expect, it } from 'vitest'
import { AuthenticationError } from './authentication-error.ts'
import { createStaticTokenAuthenticator, parseStaticTokens } from './static-tokens.ts'

const random = { bytes: (size: number) => new Uint8Array(size).fill(7) }

describe('parseStaticTokens', () => {
  it('parses token, user name, uid and groups', () => {
    expect(
      parseStaticTokens('admin-token,admin,admin-uid,"system:masters"\nbob-token,bob,bob-uid,"dev,ops"\nc,carol,3\n'),
    ).toEqual([
      { token: 'admin-token', user: { username: 'admin', uid: 'admin-uid', groups: ['system:masters'] } },
      { token: 'bob-token', user: { username: 'bob', uid: 'bob-uid', groups: ['dev', 'ops'] } },
      { token: 'c', user: { username: 'carol', uid: '3', groups: [] } },
    ])
  })

  it('skips empty lines and tokens, keeps the last of equal tokens, and parses quotes and all line endings', () => {
    const text = '\ufeff\r\n"a ""quoted"" token","x, y",1\r\n,unnamed,2\n\nt,first,1\nt,second,2,'
    expect(parseStaticTokens(text)).toEqual([
      { token: 'a "quoted" token', user: { username: 'x, y', uid: '1', groups: [] } },
      { token: 't', user: { username: 'second', uid: '2', groups: [] } },
    ])
  })

  it.each([
    ['a,b', 1],
    ['a,b,c\nsecret-token', 2],
    ['a,b"c,d', 1],
    ['a,b,c\n\n"a"b,c,d', 3],
    ['a,b,c\n"a,b,c', 2],
  ])('rejects %j with the line and without the token', (text, line) => {
    let thrown: unknown
    try {
      parseStaticTokens(text)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(AuthenticationError)
    expect(thrown).toMatchObject({ code: 'InvalidTokenFile', line })
    expect(String(thrown)).not.toContain('secret-token')
  })

  it('parses a million characters in linear time', () => {
    expect(parseStaticTokens(`a,b,c,"${'x,'.repeat(500_000)}"`)).toHaveLength(1)
  })
})

describe('createStaticTokenAuthenticator', () => {
  const tokens = createStaticTokenAuthenticator(parseStaticTokens('alice-token,alice,1,dev\n__proto__,p,2'), { random })

  it('authenticates its tokens', () => {
    expect(tokens.authenticateToken('alice-token')).toEqual({
      kind: 'authenticated',
      user: { username: 'alice', uid: '1', groups: ['dev'] },
    })
    expect(tokens.authenticateToken('__proto__')).toMatchObject({ user: { username: 'p' } })
  })

  it('has no opinion on other tokens', () => {
    for (const token of ['', 'alice', 'alice-token ', 'ALICE-TOKEN', 'constructor', 'x'.repeat(100_000)]) {
      expect(tokens.authenticateToken(token)).toEqual({ kind: 'noOpinion' })
    }
  })
})
