import { expect, it } from 'vitest'
import { withServerAudiences } from './audiences.ts'
import type { AuthenticationOutcome } from './interfaces.ts'

const alice: AuthenticationOutcome = { kind: 'authenticated', user: { username: 'alice', groups: [] } }
const inner = { authenticateToken: (token: string): AuthenticationOutcome => (token === 'a' ? alice : { kind: 'noOpinion' }) }

it('withServerAudiences makes tokens valid for the server audiences [P38] [P39]', () => {
  const tokens = withServerAudiences(inner, ['one', 'two'])
  const authenticateFor = (...audiences: string[]) => tokens.authenticateToken('a', { audiences })
  expect(tokens.authenticateToken('a')).toEqual({ ...alice, audiences: ['one', 'two'] })
  expect(tokens.authenticateToken('a')).toBe(tokens.authenticateToken('a'))
  expect(authenticateFor('x', 'two', 'one')).toEqual({ ...alice, audiences: ['two', 'one'] })
  expect(authenticateFor('x')).toEqual({ kind: 'noOpinion' })
  expect(tokens.authenticateToken('b')).toEqual({ kind: 'noOpinion' })
})

it('withServerAudiences does not consult the authenticator for other audiences', () => {
  const never = withServerAudiences({ authenticateToken: () => expect.unreachable() }, ['one'])
  expect(never.authenticateToken('a', { audiences: ['other'] })).toEqual({ kind: 'noOpinion' })
})
