import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { createServiceAccountIssuer, type ServiceAccountKeys } from './issuer.ts'
import type { ObjectLookup } from './object-lookup.ts'
import { createServiceAccountTokenAuthenticator } from './token-authenticator.ts'

const issuer = 'https://kubernetes.default.svc'
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const clock = fakeClock(Date.UTC(2026, 0, 1))
const keys: ServiceAccountKeys = { issuer, signingKey: privateKey, clock, random: seededRandom(7), profile: stockProfile }
const objects: Record<string, string> = { 'ServiceAccount/ns/robot': 'sa-1', 'Pod/ns/p': 'pod-1' }
const lookup: ObjectLookup = (kind, namespace, name) => {
  const uid = objects[`${kind}/${namespace}/${name}`]
  return uid === undefined ? undefined : { uid }
}
const tokens = createServiceAccountTokenAuthenticator(keys, lookup)
const request = { namespace: 'ns', name: 'robot', uid: 'sa-1', audiences: [], expirationSeconds: 3600 }
const issue = (more: object = {}) => createServiceAccountIssuer(keys).issue({ ...request, ...more })

describe('createServiceAccountTokenAuthenticator', () => {
  it('authenticates as the account with its groups [P237]', async () => {
    const { token, expiresAt } = await issue()
    expect(expiresAt).toBe(clock.now() + 3_600_000)
    expect(await tokens.authenticateToken(token)).toMatchObject({
      kind: 'authenticated',
      user: {
        username: 'system:serviceaccount:ns:robot',
        uid: 'sa-1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      },
      audiences: [issuer],
    })
  })

  it('rejects tokens for other audiences', async () => {
    const { token } = await issue({ audiences: ['vault'] })
    expect(await tokens.authenticateToken(token)).toMatchObject({ kind: 'rejected' })
    expect(await tokens.authenticateToken(token, { audiences: ['vault', 'x'] })).toMatchObject({
      kind: 'authenticated',
      audiences: ['vault'],
    })
  })

  it('rejects expired tokens, and tokens of deleted objects [P239]', async () => {
    const { token } = await issue({ bound: { kind: 'Pod', name: 'p', uid: 'pod-1' } })
    expect(await tokens.authenticateToken(token)).toMatchObject({ kind: 'authenticated' })
    const later = createServiceAccountTokenAuthenticator({ ...keys, clock: fakeClock(clock.now() + 3_700_000) }, lookup)
    expect(await later.authenticateToken(token)).toMatchObject({ kind: 'rejected' })
    const gone = createServiceAccountTokenAuthenticator(keys, (kind, ...rest) =>
      kind === 'Pod' ? { uid: 'pod-2' } : lookup(kind, ...rest),
    )
    expect(await gone.authenticateToken(token)).toMatchObject({ kind: 'rejected' })
    const recreated = createServiceAccountTokenAuthenticator(keys, () => ({ uid: 'sa-2' }))
    expect(await recreated.authenticateToken(token)).toMatchObject({ kind: 'rejected' })
  })

  it.each([
    ['80 % of the lifetime of an hour', 3_600, 0.8 * 3_600],
    ['a day of a lifetime of two', 2 * 86_400, 86_400],
  ])('accepts old and new tokens after a renewal at %s, each until it expires [P136]', async (_, expirationSeconds, at) => {
    const own = fakeClock(clock.now())
    const renewing = { ...keys, clock: own }
    const authenticator = createServiceAccountTokenAuthenticator(renewing, lookup)
    const issuer = createServiceAccountIssuer(renewing)
    const take = () => issuer.issue({ ...request, expirationSeconds })
    const kinds = async (...tokens: string[]) =>
      (await Promise.all(tokens.map((token) => authenticator.authenticateToken(token)))).map(({ kind }) => kind)
    const first = await take()
    expect(first.expiresAt).toBe(own.now() + expirationSeconds * 1000)
    own.advance(at * 1000)
    const second = await take()
    expect([second.token === first.token, second.expiresAt]).toEqual([false, own.now() + expirationSeconds * 1000])
    expect(await kinds(first.token, second.token)).toEqual(['authenticated', 'authenticated'])
    own.advance(first.expiresAt - own.now() - 1000)
    expect(await kinds(first.token, second.token)).toEqual(['authenticated', 'authenticated'])
    // Clocks may differ by ten seconds.
    own.advance(12_000)
    expect(await kinds(first.token, second.token)).toEqual(['rejected', 'authenticated'])
    own.advance(at * 1000)
    expect(await kinds(second.token)).toEqual(['rejected'])
  })

  it('accepts former keys while they are listed', async () => {
    const { token } = await issue()
    const next = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const rotated = { ...keys, signingKey: next }
    expect(await createServiceAccountTokenAuthenticator(rotated, lookup).authenticateToken(token)).toMatchObject({
      kind: 'rejected',
    })
    const both = { ...rotated, verificationKeys: [createPublicKey(privateKey)] }
    expect(await createServiceAccountTokenAuthenticator(both, lookup).authenticateToken(token)).toMatchObject({
      kind: 'authenticated',
    })
  })

  it('rejects forged tokens: unsigned, HMAC with the public key, another key', async () => {
    const claims = {
      sub: 'system:serviceaccount:ns:robot',
      'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'sa-1' } },
    }
    const common = (jwt: SignJWT | UnsecuredJWT) =>
      jwt
        .setIssuer(issuer)
        .setAudience(issuer)
        .setExpirationTime(Math.floor(clock.now() / 1000) + 60)
    const unsigned = (common(new UnsecuredJWT(claims)) as UnsecuredJWT).encode()
    const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })
    const confused = await (common(new SignJWT(claims)) as SignJWT)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(String(pem)))
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const other = await (common(new SignJWT(claims)) as SignJWT).setProtectedHeader({ alg: 'ES256' }).sign(stranger)
    for (const token of [unsigned, confused, other])
      expect(await tokens.authenticateToken(token)).toMatchObject({ kind: 'rejected' })
  })

  it.each(['', 'a.b.c', 'x'.repeat(20_000), 'eyJhbGciOiJub25lIn0..'])('has no opinion on %.20s', async (token) => {
    expect(await tokens.authenticateToken(token)).toEqual({ kind: 'noOpinion' })
  })
})
