import { expect, it } from 'vitest'
import { withServerAudiences } from './audiences.ts'
import type { AuthenticationOutcome } from './interfaces.ts'

const alice: AuthenticationOutcome = { kind: 'authenticated', user: { username: 'alice', groups: [] } }
const inner = { authenticateToken: (token: string): AuthenticationOutcome => (token === 'a' ? alice : { kind: 'noOpinion' }) }

it('P38 P39 tokens without audiences are good for those of the server', () => {
  const tokens = withServerAudiences(inner, ['one', 'two'])
  const asked = (...audiences: string[]) => tokens.authenticateToken('a', { audiences })
  expect(tokens.authenticateToken('a')).toEqual({ ...alice, audiences: ['one', 'two'] })
  expect(tokens.authenticateToken('a')).toBe(tokens.authenticateToken('a'))
  expect(asked('x', 'two', 'one')).toEqual({ ...alice, audiences: ['two', 'one'] })
  expect(asked('x')).toEqual({ kind: 'noOpinion' })
  expect(tokens.authenticateToken('b')).toEqual({ kind: 'noOpinion' })
})

it('the token is not even looked at for other audiences', () => {
  const never = withServerAudiences({ authenticateToken: () => expect.unreachable() }, ['one'])
  expect(never.authenticateToken('a', { audiences: ['other'] })).toEqual({ kind: 'noOpinion' })
})
