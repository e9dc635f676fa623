import { createNamingProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import {
  type BootstrapTokenSecret,
  bootstrapTokenLifeMs,
  bootstrapTokenSecret,
  readBootstrapToken,
  signingTokenOf,
} from './token-secret.ts'

const token = { id: 'abcdef', secret: '0123456789abcdef' }
const now = Date.UTC(2026, 0, 1)
const textsOf = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
const secretOf = (texts: Record<string, string>, name = 'bootstrap-token-abcdef'): BootstrapTokenSecret => ({
  metadata: { name },
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
})
const signing = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' }

describe('bootstrapTokenSecret', () => {
  it('has the namespace, name, type and keys of a bootstrap token Secret [P113] [P114] [P116] [P117] [P118] [P119]', () => {
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

  it('omits unset members, and follows the naming profile', () => {
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
  ])('rejects the group %j [P119]', (group) => {
    expect(() => bootstrapTokenSecret(token, { groups: [group] })).toThrow(expect.objectContaining({ code: 'InvalidToken' }))
  })

  it('rejects a token without usages', () => {
    expect(() => bootstrapTokenSecret(token, { usages: [] })).toThrow(expect.objectContaining({ code: 'InvalidToken' }))
  })

  it('survives a round trip', () => {
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

describe('signingTokenOf', () => {
  it('requires the usage signing [P118]', () => {
    expect(signingTokenOf(secretOf(signing), now)).toEqual(token)
    for (const use of ['false', 'True', '1', ''])
      expect(signingTokenOf(secretOf({ ...signing, 'usage-bootstrap-signing': use }), now), use).toBeUndefined()
  })

  it('ignores expired tokens and malformed expirations [P263]', () => {
    const at = (expiration: string) => signingTokenOf(secretOf({ ...signing, expiration }), now)
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
  ])('ignores a Secret with %s [P113] [P114]', (_, secret) => {
    expect(signingTokenOf(secret, now)).toBeUndefined()
  })
})

describe('bootstrapTokenLifeMs', () => {
  it('has millisecond precision [P116]', () => {
    const left = (expiration: string) => bootstrapTokenLifeMs(secretOf({ expiration }), now)
    expect(left('')).toBe(Number.POSITIVE_INFINITY)
    expect(left('2026-01-01T00:00:01.25Z')).toBe(1250)
    expect(left('2025-12-31T23:59:59Z')).toBe(0)
    expect(left('unreadable')).toBe(0)
  })
})
