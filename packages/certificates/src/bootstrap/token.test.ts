import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { formatBootstrapToken, generateBootstrapToken, parseBootstrapToken } from './token.ts'

describe('bootstrap tokens', () => {
  it('have six characters, a dot and sixteen characters [P120]', () => {
    const token = parseBootstrapToken('abc123.0123456789abcdef')
    expect(token).toEqual({ id: 'abc123', secret: '0123456789abcdef' })
    expect(formatBootstrapToken(token)).toBe('abc123.0123456789abcdef')
  })

  it.each([
    '',
    '.',
    'abcdef',
    'abcdef.0123456789abcde',
    'abcdef.0123456789abcdefg',
    'ABCDEF.0123456789abcdef',
    'abcdef.0123456789abcde\n',
    'abcdefg.123456789abcdef',
    'abcde..0123456789abcdef',
    'abcdef.0123456789abcdeé',
  ])('rejects %j without repeating it [P120]', (text) => {
    let failure: unknown
    try {
      parseBootstrapToken(text)
    } catch (error) {
      failure = error
    }
    expect(failure).toMatchObject({ code: 'InvalidToken' })
    if (text.length > 5) expect((failure as Error).message).not.toContain(text.trim().slice(0, 6))
  })

  it('are uniformly distributed over the alphabet [P120]', () => {
    const random = seededRandom(7)
    const seen = new Map<string, number>()
    for (let i = 0; i < 500; i++) {
      const token = generateBootstrapToken(random)
      expect(parseBootstrapToken(formatBootstrapToken(token))).toEqual(token)
      for (const char of token.id + token.secret) seen.set(char, (seen.get(char) ?? 0) + 1)
    }
    // 11 000 characters: about 305 of each of the 36.
    expect(seen.size).toBe(36)
    expect(Math.min(...seen.values())).toBeGreaterThan(220)
    expect(Math.max(...seen.values())).toBeLessThan(400)
  })
})
