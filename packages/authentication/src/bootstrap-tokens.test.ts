import { fakeClock, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type BootstrapTokenSecret, createBootstrapTokenAuthenticator } from './bootstrap-tokens.ts'

const clock = fakeClock(Date.UTC(2026, 0, 1))
const data = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}
const secretOf = (given: Record<string, string | undefined>, more: Partial<BootstrapTokenSecret> = {}): BootstrapTokenSecret => ({
  type: 'bootstrap.kubernetes.io/token',
  metadata: {},
  data: Object.fromEntries(
    Object.entries({ ...data, ...given }).flatMap(([key, text]) =>
      text === undefined ? [] : [[key, Buffer.from(text).toString('base64')]],
    ),
  ),
  ...more,
})
const token = 'abcdef.0123456789abcdef'
const judge = (secret: BootstrapTokenSecret, given = token) =>
  createBootstrapTokenAuthenticator({
    secret: (name) => (name === 'bootstrap-token-abcdef' ? secret : undefined),
    clock,
    profile: stockProfile,
  }).authenticateToken(given)
const known = (groups: string[]) => ({ kind: 'authenticated', user: { username: 'system:bootstrap:abcdef', groups } })

describe('bootstrapTokens', () => {
  it('P119 P261 the bearer is named for the token, in the group of all and those asked for', () => {
    expect(judge(secretOf({}))).toEqual(known(['system:bootstrappers']))
    const asked = 'system:bootstrappers:z,system:bootstrappers:a:b-9,system:bootstrappers:z'
    expect(judge(secretOf({ 'auth-extra-groups': asked }))).toEqual(
      known(['system:bootstrappers', 'system:bootstrappers:a:b-9', 'system:bootstrappers:z']),
    )
  })

  it('P115 a description is for people', () => {
    expect(judge(secretOf({ description: 'for the new nodes' }))).toEqual(known(['system:bootstrappers']))
  })

  it('P116 P262 an expired token lets nobody in', () => {
    const at = (expiration: string) => judge(secretOf({ expiration }))
    for (const good of ['', '2026-01-01T00:00:01Z', '2026-01-01T01:00:01+01:00'])
      expect(at(good)).toMatchObject({ kind: 'authenticated' })
    for (const bad of ['2026-01-01T00:00:00Z', '2025-12-31T23:59:59Z', 'never', '2026-13-01T00:00:00Z', '2027'])
      expect(at(bad), bad).toEqual({ kind: 'noOpinion' })
  })

  it.each([
    ['another secret', secretOf({ 'token-secret': '0123456789abcdee' })],
    ['no secret', secretOf({ 'token-secret': undefined })],
    ['another id', secretOf({ 'token-id': 'abcdeg' })],
    ['no use', secretOf({ 'usage-bootstrap-authentication': undefined })],
    ['another use', secretOf({ 'usage-bootstrap-authentication': 'True' })],
    ['another type', secretOf({}, { type: 'Opaque' })],
    ['no data', { type: 'bootstrap.kubernetes.io/token', metadata: {} }],
    ['on its way out', secretOf({}, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    ['a group of others', secretOf({ 'auth-extra-groups': 'system:masters' })],
    ['a group with a line break', secretOf({ 'auth-extra-groups': 'system:bootstrappers:a\nsystem:masters' })],
  ])('P113 P114 P117 P119 a Secret with %s lets nobody in', (_, secret) => {
    expect(judge(secret)).toEqual({ kind: 'noOpinion' })
  })

  it.each([
    '',
    'abcdef',
    'ABCDEF.0123456789abcdef',
    `${token}\n`,
    ` ${token}`,
    'abcdef.0123456789abcde',
    '__prot.o__0123456789ab',
  ])('P120 %j has not the form of a token', (given) => {
    expect(judge(secretOf({}), given)).toEqual({ kind: 'noOpinion' })
  })
})
