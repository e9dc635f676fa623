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

describe('createBootstrapTokenAuthenticator', () => {
  it('names the user after the token id, with default and extra groups [P119] [P261]', () => {
    expect(judge(secretOf({}))).toEqual(known(['system:bootstrappers']))
    const extraGroups = 'system:bootstrappers:z,system:bootstrappers:a:b-9,system:bootstrappers:z'
    expect(judge(secretOf({ 'auth-extra-groups': extraGroups }))).toEqual(
      known(['system:bootstrappers', 'system:bootstrappers:a:b-9', 'system:bootstrappers:z']),
    )
  })

  it('ignores the description [P115]', () => {
    expect(judge(secretOf({ description: 'for the new nodes' }))).toEqual(known(['system:bootstrappers']))
  })

  it('does not authenticate an expired token [P116] [P262]', () => {
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
    ['no usage', secretOf({ 'usage-bootstrap-authentication': undefined })],
    ['another usage', secretOf({ 'usage-bootstrap-authentication': 'True' })],
    ['another type', secretOf({}, { type: 'Opaque' })],
    ['no data', { type: 'bootstrap.kubernetes.io/token', metadata: {} }],
    ['a deletion timestamp', secretOf({}, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    ['a foreign group', secretOf({ 'auth-extra-groups': 'system:masters' })],
    ['a group with a line break', secretOf({ 'auth-extra-groups': 'system:bootstrappers:a\nsystem:masters' })],
  ])('does not authenticate by a Secret with %s [P113] [P114] [P117] [P119]', (_, secret) => {
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
  ])('has no opinion on %j, which does not have the form of a token [P120]', (given) => {
    expect(judge(secretOf({}), given)).toEqual({ kind: 'noOpinion' })
  })
})
