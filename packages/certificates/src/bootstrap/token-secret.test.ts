import { createNamingProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import {
  type BootstrapSecretLike,
  bootstrapTokenLifeMs,
  bootstrapTokenSecret,
  readBootstrapToken,
  signingTokenIn,
} from './token-secret.ts'

const token = { id: 'abcdef', secret: '0123456789abcdef' }
const now = Date.UTC(2026, 0, 1)
const textsOf = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
const secretOf = (texts: Record<string, string>, name = 'bootstrap-token-abcdef'): BootstrapSecretLike => ({
  metadata: { name },
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
})
const signing = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' }

describe('bootstrapTokenSecret', () => {
  it('P113 P114 P116 P117 P118 P119 has the place, name, type and keys that servers look for', () => {
    const { data, ...rest } = bootstrapTokenSecret(token, {
      description: 'for the new nodes',
      expires: now,
      groups: ['system:bootstrappers:a', 'system:bootstrappers:b:c'],
    })
    expect(rest).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
    })
    expect(textsOf(data)).toEqual({
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      description: 'for the new nodes',
      expiration: '2026-01-01T00:00:00Z',
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:a,system:bootstrappers:b:c',
    })
  })

  it('leaves out what is not said, and follows the profile', () => {
    const profile = createNamingProfile({ domain: 'example.org', systemNamespace: 'sys' })
    const { data, type, metadata } = bootstrapTokenSecret(token, { usages: ['signing'] }, profile)
    expect(Object.keys(data)).toEqual(['token-id', 'token-secret', 'usage-bootstrap-signing'])
    expect([type, metadata.namespace]).toEqual(['bootstrap.example.org/token', 'sys'])
  })

  it.each([
    'system:masters',
    'system:bootstrappers',
    'system:bootstrappers:',
    'system:bootstrappers:A',
    'system:bootstrappers:a,b',
  ])('P119 refuses the group %j', (group) => {
    expect(() => bootstrapTokenSecret(token, { groups: [group] })).toThrow(expect.objectContaining({ code: 'InvalidToken' }))
  })

  it('refuses a token for nothing', () => {
    expect(() => bootstrapTokenSecret(token, { usages: [] })).toThrow(expect.objectContaining({ code: 'InvalidToken' }))
  })

  it('is read again', () => {
    const details = { description: 'd', expires: now, groups: ['system:bootstrappers:a'] }
    expect(readBootstrapToken(bootstrapTokenSecret(token, details))).toEqual({
      ...token,
      ...details,
      usages: ['authentication', 'signing'],
    })
    expect(readBootstrapToken(secretOf({ ...signing, expiration: 'soon', 'usage-bootstrap-x': 'true' }))).toEqual({
      ...token,
      description: '',
      expires: 'unreadable',
      usages: ['signing', 'x'],
      groups: [],
    })
    expect(readBootstrapToken({ metadata: {} })).toBeUndefined()
  })
})

describe('signingTokenIn', () => {
  it('P118 is for Secrets of that use alone', () => {
    expect(signingTokenIn(secretOf(signing), now)).toEqual(token)
    for (const use of ['false', 'True', '1', ''])
      expect(signingTokenIn(secretOf({ ...signing, 'usage-bootstrap-signing': use }), now), use).toBeUndefined()
  })

  it('P263 an expired token signs nothing, nor does one whose end cannot be read', () => {
    const at = (expiration: string) => signingTokenIn(secretOf({ ...signing, expiration }), now)
    expect(at('2026-01-01T00:00:01Z')).toEqual(token)
    expect(at('2026-01-01T01:00:00.5+01:00')).toEqual(token)
    for (const expired of ['2026-01-01T00:00:00Z', '2020-01-01T00:00:00Z', 'next week', '2027'])
      expect(at(expired), expired).toBeUndefined()
  })

  it.each([
    ['another id', secretOf({ ...signing, 'token-id': 'abcdeg' })],
    ['no secret', secretOf({ 'token-id': 'abcdef', 'usage-bootstrap-signing': 'true' })],
    ['an odd name', secretOf(signing, 'odd')],
    ['a longer name', secretOf(signing, 'bootstrap-token-abcdefg')],
    ['no data', { metadata: { name: 'bootstrap-token-abcdef' } }],
  ])('P113 P114 passes over a Secret with %s', (_, secret) => {
    expect(signingTokenIn(secret, now)).toBeUndefined()
  })
})

describe('bootstrapTokenLifeMs', () => {
  it('P116 counts to the millisecond', () => {
    const left = (expiration: string) => bootstrapTokenLifeMs(secretOf({ expiration }), now)
    expect(left('')).toBe(Number.POSITIVE_INFINITY)
    expect(left('2026-01-01T00:00:01.25Z')).toBe(1250)
    expect(left('2025-12-31T23:59:59Z')).toBe(0)
    expect(left('unreadable')).toBe(0)
  })
})
