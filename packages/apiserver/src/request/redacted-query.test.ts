import { describe, expect, it } from 'vitest'
import { redactQuery } from './redacted-query.ts'

describe('a query in a log', () => {
  it.each([
    ['token=abc', 'token=REDACTED'],
    ['/api/v1/pods?limit=5&token=abc&watch=1', '/api/v1/pods?limit=5&token=REDACTED&watch=1'],
    ['/api?access_token=a=b', '/api?access_token=REDACTED'],
    ['/api?%74oken=abc', '/api?%74oken=REDACTED'],
    ['/api?Token=abc', '/api?Token=REDACTED'],
    ['/api?%=abc&continue=token', '/api?%=abc&continue=token'],
    ['/api/v1/pods', '/api/v1/pods'],
  ])('%s becomes %s', (text, expected) => {
    expect(redactQuery(text)).toBe(expected)
  })
})
