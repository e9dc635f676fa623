import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import type { AuthenticationOutcome } from '../interfaces.ts'
import { decodeToken } from '../jwt.ts'
import {
  type BoundObject,
  createServiceAccountIssuer,
  type ServiceAccountIssuerOptions,
  type ServiceAccountKeys,
} from './issuer.ts'
import type { FoundObject } from './object-lookup.ts'
import { createOpenIdMetadata } from './openid-metadata.ts'
import { createServiceAccountTokenAuthenticator } from './token-authenticator.ts'

const key = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const signingKey = key()

function setup(more: Partial<ServiceAccountKeys> = {}, rules: ServiceAccountIssuerOptions = {}) {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const keys: ServiceAccountKeys = {
    issuer: 'https://issuer.test',
    signingKey,
    clock,
    random: seededRandom(7),
    profile: stockProfile,
    ...more,
  }
  const objects = new Map<string, FoundObject>([
    ['ServiceAccount/ns/robot', { uid: 'sa-1' }],
    ['Pod/ns/p', { uid: 'pod-1' }],
    ['Node//n', { uid: 'node-1' }],
  ])
  const uses: string[] = []
  const tokens = createServiceAccountTokenAuthenticator(
    keys,
    (kind, namespace, name) => objects.get(`${kind}/${namespace}/${name}`),
    {
      onUse: ({ namespace, secret, date }) => uses.push(`${namespace}/${secret} ${date}`),
    },
  )
  const issuer = createServiceAccountIssuer(keys, rules)
  const issue = (given: { bound?: BoundObject; expirationSeconds?: number; audiences?: string[] } = {}) =>
    issuer.issue({ namespace: 'ns', name: 'robot', uid: 'sa-1', audiences: [], expirationSeconds: 3600, ...given })
  const judge = async (token: string): Promise<AuthenticationOutcome> => tokens.authenticateToken(token)
  /** Issues a token and stores it in a Secret, as the token controller does. */
  const legacy = async (secret: Partial<FoundObject> = {}) => {
    const token = await issuer.issueLegacy!({ namespace: 'ns', secretName: 's', accountName: 'robot', accountUid: 'sa-1' })
    objects.set('Secret/ns/s', { uid: 's-1', data: { token: Buffer.from(token).toString('base64') }, ...secret })
    return token
  }
  return { clock, keys, objects, uses, tokens, issuer, issue, judge, legacy }
}
const reasonOf = (outcome: AuthenticationOutcome) => (outcome.kind === 'rejected' ? outcome.reason : outcome.kind)

describe('bound tokens', () => {
  it('carry token, pod and node in extra [P237]', async () => {
    const { issue, judge } = setup()
    const bound = { kind: 'Pod', name: 'p', uid: 'pod-1', node: { name: 'n', uid: 'node-1' } } as const
    const { token, credentialId } = await issue({ bound })
    expect(await judge(token)).toMatchObject({
      user: {
        username: 'system:serviceaccount:ns:robot',
        extra: {
          'authentication.kubernetes.io/credential-id': [credentialId],
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': ['pod-1'],
          'authentication.kubernetes.io/node-name': ['n'],
          'authentication.kubernetes.io/node-uid': ['node-1'],
        },
      },
    })
  })

  it('follow the naming profile', async () => {
    const profile = { ...stockProfile, domain: 'example.com', apiDomain: 'api.example.com', vendor: 'acme' }
    const { issue, judge, legacy } = setup({ profile })
    const { token } = await issue({ bound: { kind: 'Pod', name: 'p', uid: 'pod-1' } })
    expect(decodeToken(token)?.claims['example.com']).toMatchObject({ namespace: 'ns', pod: { name: 'p', uid: 'pod-1' } })
    const outcome = await judge(token)
    expect(outcome.kind === 'authenticated' && Object.keys(outcome.user.extra ?? {})).toContain(
      'authentication.example.com/pod-name',
    )
    const claims = decodeToken(await legacy())?.claims
    expect(claims).toMatchObject({ iss: 'acme/serviceaccount', 'example.com/serviceaccount/secret.name': 's' })
  })

  it('stay valid for a pod whose node is deleted, but not for a deleted node', async () => {
    const { issue, judge, objects } = setup()
    const pod = await issue({ bound: { kind: 'Pod', name: 'p', uid: 'pod-1', node: { name: 'n', uid: 'node-1' } } })
    const node = await issue({ bound: { kind: 'Node', name: 'n', uid: 'node-1' } })
    expect(reasonOf(await judge(node.token))).toBe('authenticated')
    objects.delete('Node//n')
    expect(reasonOf(await judge(pod.token))).toBe('authenticated')
    expect(reasonOf(await judge(node.token))).toBe('service account token has been invalidated')
  })

  it('stay valid while the pod terminates', async () => {
    const { issue, judge, objects, clock } = setup()
    const { token } = await issue({ bound: { kind: 'Pod', name: 'p', uid: 'pod-1' } })
    objects.set('Pod/ns/p', { uid: 'pod-1', deletionTimestamp: new Date(clock.now() + 30_000).toISOString() })
    clock.advance(39_000)
    expect(reasonOf(await judge(token))).toBe('authenticated')
    clock.advance(2000)
    expect(reasonOf(await judge(token))).toBe('service account token has been invalidated')
  })

  it('are accepted from former issuers and keys while they are listed', async () => {
    const former = setup({ issuer: 'https://former.test' })
    const { token } = await former.issue()
    const now = { signingKey: key(), verificationKeys: [createPublicKey(signingKey)] }
    expect(reasonOf(await setup({ ...now, formerIssuers: ['https://former.test'] }).judge(token))).toBe('authenticated')
    expect(await setup(now).judge(token)).toEqual({ kind: 'noOpinion' })
    const { token: own } = await setup().issue()
    expect(reasonOf(await setup(now).judge(own))).toBe('authenticated')
  })

  it('are extended when mounted, with an audit annotation on late use [P326]', async () => {
    const { issue, judge, clock } = setup()
    const bound = { kind: 'Pod', name: 'p', uid: 'pod-1' } as const
    const { token, expiresAt } = await issue({ bound, expirationSeconds: 3607 })
    expect(expiresAt).toBe(clock.now() + 3_607_000)
    expect(await judge(token)).not.toHaveProperty('annotations')
    clock.advance(4_000_000)
    expect(await judge(token)).toMatchObject({
      kind: 'authenticated',
      annotations: {
        'authentication.k8s.io/stale-token': 'subject: system:serviceaccount:ns:robot, seconds after warning threshold: 393',
      },
    })
    for (const other of [
      { bound, expirationSeconds: 3600 },
      { expirationSeconds: 3607 },
      { bound, expirationSeconds: 3607, audiences: ['x'] },
    ]) {
      const { token } = await issue(other)
      expect(decodeToken(token)?.claims.exp).toBe(clock.now() / 1000 + other.expirationSeconds)
    }
    const { token: plain } = await setup({}, { extendMountedTokens: false }).issue({ bound, expirationSeconds: 3607 })
    expect(decodeToken(plain)?.claims).not.toHaveProperty(['kubernetes.io', 'warnafter'])
  })

  it('never exceed the maximum lifetime of the issuer', async () => {
    const { issue, clock } = setup({}, { maxExpirationSeconds: 7200 })
    expect(await issue({ expirationSeconds: 86_400 })).toMatchObject({
      expirationSeconds: 7200,
      expiresAt: clock.now() + 7_200_000,
    })
  })
})

describe('Secret-based tokens', () => {
  it('authenticate while the Secret contains them [P238]', async () => {
    const { legacy, judge, objects, clock } = setup()
    const token = await legacy()
    expect(await judge(token)).toMatchObject({
      kind: 'authenticated',
      user: {
        username: 'system:serviceaccount:ns:robot',
        uid: 'sa-1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      },
      audiences: ['https://issuer.test'],
      annotations: { 'authentication.k8s.io/legacy-token-manual-secret': 's' },
    })
    clock.advance(50 * 365 * 86_400_000)
    expect(reasonOf(await judge(token))).toBe('authenticated')
    objects.set('Secret/ns/s', { uid: 's-1', data: { token: Buffer.from('another').toString('base64') } })
    expect(reasonOf(await judge(token))).toBe("Token does not match server's copy")
    objects.delete('Secret/ns/s')
    expect(reasonOf(await judge(token))).toBe('Token has been invalidated')
  })

  it('become invalid when the account is deleted or recreated', async () => {
    const { legacy, judge, objects } = setup()
    const token = await legacy()
    objects.delete('ServiceAccount/ns/robot')
    expect(reasonOf(await judge(token))).toBe('serviceaccounts "robot" not found')
    objects.set('ServiceAccount/ns/robot', { uid: 'sa-2' })
    expect(reasonOf(await judge(token))).toBe('ServiceAccount UID (sa-2) does not match claim (sa-1)')
    objects.set('ServiceAccount/ns/robot', { uid: 'sa-1', deletionTimestamp: '2026-01-01T00:00:00Z' })
    expect(reasonOf(await judge(token))).toBe('ServiceAccount ns/robot has been deleted')
  })

  it('are valid only for the server audiences', async () => {
    const { legacy, tokens } = setup()
    const token = await legacy()
    expect(await tokens.authenticateToken(token, { audiences: ['vault'] })).toMatchObject({ kind: 'rejected' })
  })

  it('report their use once per day, and are rejected when marked invalid', async () => {
    const { legacy, judge, uses } = setup()
    await judge(await legacy())
    await judge(await legacy({ labels: { 'kubernetes.io/legacy-token-last-used': '2026-01-01' } }))
    expect(uses).toEqual(['ns/s 2026-01-01'])
    const marked = await legacy({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2025-12-01' } })
    expect(reasonOf(await judge(marked))).toContain('marked as invalid')
  })

  it('cause a warning if auto-generated', async () => {
    const { legacy, judge, objects } = setup()
    objects.set('ServiceAccount/ns/robot', { uid: 'sa-1', secrets: ['s'] })
    expect(await judge(await legacy())).toMatchObject({
      kind: 'authenticated',
      warnings: [expect.stringContaining('Use tokens from the TokenRequest API')],
      annotations: { 'authentication.k8s.io/legacy-token-autogenerated-secret': 's' },
    })
  })
})

describe('createOpenIdMetadata', () => {
  it('lets relying parties verify tokens', async () => {
    const { issue, keys, clock } = setup({ verificationKeys: [createPublicKey(key())] })
    const { configuration, jwks } = createOpenIdMetadata(keys, 'https://host/openid/v1/jwks')!
    expect(configuration).toEqual({
      issuer: 'https://issuer.test',
      jwks_uri: 'https://host/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    })
    const { token } = await issue()
    const set = createLocalJWKSet(jwks as never)
    const { payload } = await jwtVerify(token, set, { issuer: 'https://issuer.test', currentDate: new Date(clock.now()) })
    expect(payload.sub).toBe('system:serviceaccount:ns:robot')
    expect(JSON.stringify(jwks)).not.toContain('"d"')
  })

  it('is undefined for an issuer that cannot be discovered', () => {
    for (const issuer of ['kubernetes/serviceaccount', 'http://issuer.test', 'https://issuer.test?x'])
      expect(createOpenIdMetadata({ ...setup().keys, issuer }, 'https://host/keys')).toBeUndefined()
  })

  it('rejects signing keys of other types', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    expect(() => setup({ signingKey: privateKey })).toThrow(expect.objectContaining({ code: 'InvalidIssuer' }))
  })
})
