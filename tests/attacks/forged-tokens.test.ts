import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { forgeToken } from '@krmkit/authentication/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttackedServer } from './attacked-server.ts'
import { accountClaims, expectRefused, keyIdOf, publicKeyPem, robotUid, seconds, startTokenTarget } from './token-attacks.ts'

/** Forged tokens, and genuine ones at the wrong time or place: none authenticates. */

let target: AttackedServer
let stranger: ReturnType<typeof generateKeyPairSync>
beforeAll(async () => {
  target = await startTokenTarget()
  stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
})
afterAll(() => target[Symbol.asyncDispose]())

describe('forged tokens', () => {
  it('unsigned: alg none in every spelling, with and without a signature', async () => {
    const claims = await accountClaims(target)
    const good = await target.tokenOf('robot')
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', undefined]) {
      const token = forgeToken({ header: { alg, typ: 'JWT' }, claims })
      await expectRefused(
        target,
        token,
        `${token}${good.split('.')[2]}`,
        target.oidc.token({ header: { alg }, signer: '' }).replace(/[^.]*$/, ''),
      )
    }
  })

  it('algorithm confusion: the public key as the secret of an HMAC', async () => {
    const claims = await accountClaims(target)
    const oidcPem = createPublicKey(target.oidc.signingKey).export({ type: 'spki', format: 'pem' }) as string
    for (const alg of ['HS256', 'HS384', 'HS512', 'hs256']) {
      for (const secret of [
        publicKeyPem(target),
        publicKeyPem(target).trim(),
        publicKeyPem(target).replace(/-----[^-]+-----|\s/g, ''),
      ])
        await expectRefused(target, forgeToken({ header: { alg }, claims, signer: secret }))
      await expectRefused(target, target.oidc.token({ header: { alg }, signer: oidcPem }))
    }
  })

  it('algorithm confusion: another asymmetric algorithm than that of the key', async () => {
    const claims = await accountClaims(target)
    for (const alg of ['PS256', 'RS384', 'ES256', 'EdDSA', 'RSA-OAEP'])
      await expectRefused(
        target,
        forgeToken({ header: { alg, kid: keyIdOf(await target.tokenOf('robot')) }, claims, signer: target.signingKey }),
        target.oidc.token({ header: { alg } }),
      )
  })

  it('keys in the token: jwk, jku, x5u, x5c', async () => {
    const claims = await accountClaims(target)
    const { privateKey, publicKey } = stranger
    const jwk = publicKey.export({ format: 'jwk' })
    const before = { ...target.oidc.requestCounts }
    for (const header of [
      { jwk },
      { jku: 'https://attacker.test/keys' },
      { x5u: 'https://attacker.test/chain' },
      { x5c: [publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] },
    ])
      await expectRefused(
        target,
        forgeToken({ header: { alg: 'RS256', ...header }, claims, signer: privateKey }),
        target.oidc.token({ header, signer: privateKey }),
      )
    // The key set may be fetched once for each token with an unknown key, and nothing else.
    expect(target.oidc.requestCounts.keys - before.keys).toBeLessThanOrEqual(4)
  })

  it('kid tricks: paths, statements, members of every object, the wrong type, the right key', async () => {
    const claims = await accountClaims(target)
    const kids = ['../../dev/null', "' OR 1=1 --", '__proto__', 'constructor', 'toString', '', ' ', '\u0000', 'x'.repeat(5000)]
    const odd: unknown[] = [null, 0, true, [], ['key-1'], {}, { toString: 'key-1' }]
    for (const kid of [...kids, ...odd, keyIdOf(await target.tokenOf('robot')), 'key-1'])
      await expectRefused(
        target,
        forgeToken({ header: { alg: 'RS256', kid }, claims, signer: stranger.privateKey }),
        forgeToken({ header: { alg: 'HS256', kid }, claims, signer: '' }),
        target.oidc.token({ header: { kid }, signer: stranger.privateKey }),
      )
  })

  it('unknown critical header members, and unencoded payloads', async () => {
    const claims = await accountClaims(target)
    for (const header of [{ crit: ['exp'] }, { crit: ['x'], x: 1 }, { crit: [] }, { b64: false, crit: ['b64'] }])
      await expectRefused(target, forgeToken({ header: { alg: 'RS256', ...header }, claims, signer: target.signingKey }))
  })

  it('signatures that are cut, moved, padded, changed or of another token', async () => {
    const good = await target.tokenOf('robot')
    const other = await target.tokenOf('robot', { expirationSeconds: 7200 })
    const [head = '', body = '', signature = ''] = good.split('.')
    const flipped = `${signature.slice(0, 10)}${signature[10] === 'A' ? 'B' : 'A'}${signature.slice(11)}`
    await expectRefused(
      target,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${head}.${body}.${signature.slice(0, -4)}`,
      `${head}.${body}.${flipped}`,
      `${head}.${body}.${signature}.`,
      `${head}.${body}.${signature}.${signature}.x`,
      `${head}.${body}.${other.split('.')[2]}`,
      `${head}.${other.split('.')[1]}.${signature}`,
      `.${body}.${signature}`,
      `${head}..${signature}`,
      `${head}.${body}.${signature}==`,
      `${head}.${body}.%00${signature}`,
    )
    expect((await target.authenticate({ token: good })).username).toBe('system:serviceaccount:default:robot')
  })

  it('signed with an unknown key, otherwise valid', async () => {
    const claims = await accountClaims(target)
    await expectRefused(
      target,
      forgeToken({ header: { alg: 'RS256' }, claims, signer: stranger.privateKey }),
      target.oidc.token({ signer: stranger.privateKey, header: { kid: undefined } }),
    )
  })

  it('validly signed claims that are inconsistent or name no user', async () => {
    const signed = async (more: object) =>
      forgeToken({ header: { alg: 'RS256' }, claims: await accountClaims(target, more), signer: target.signingKey })
    const own = (await accountClaims(target))['kubernetes.io']
    await expectRefused(
      target,
      await signed({ sub: 'system:serviceaccount:kube-system:robot' }),
      await signed({ sub: 'admin' }),
      await signed({ sub: undefined }),
      await signed({ 'kubernetes.io': undefined }),
      await signed({ 'kubernetes.io': 'robot' }),
      await signed({ 'kubernetes.io': { ...own, namespace: 'kube-system' } }),
      await signed({ 'kubernetes.io': { ...own, serviceaccount: { name: 'robot', uid: '' } } }),
      await signed({ 'kubernetes.io': { ...own, pod: { name: 'p' } } }),
      await signed({ 'kubernetes.io': { ...own, pod: { name: 'p', uid: 'u' } } }),
      await signed({ 'kubernetes.io': { ...own, pod: null } }),
      await signed({ 'kubernetes.io': { ...own, secret: [] } }),
      await signed({ 'kubernetes.io': { ...own, node: { name: '../x', uid: 'u' } } }),
      await signed({ 'kubernetes.io': JSON.parse('{"__proto__":{"namespace":"default"}}') as object }),
    )
  })

  it('bound tokens disguised as Secret tokens, and vice versa', async () => {
    const bound = await accountClaims(target, { iss: 'kubernetes/serviceaccount' })
    const legacy = {
      iss: target.issuer,
      aud: [target.issuer],
      exp: seconds(target) + 60,
      sub: 'system:serviceaccount:default:robot',
      'kubernetes.io/serviceaccount/namespace': 'default',
      'kubernetes.io/serviceaccount/secret.name': 's',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': await robotUid(target),
    }
    for (const claims of [bound, legacy, { ...legacy, iss: 'kubernetes/serviceaccount' }])
      await expectRefused(target, forgeToken({ header: { alg: 'RS256' }, claims, signer: target.signingKey }))
  })

  it('huge, deep and malformed tokens are cheap to reject', async () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
    const part = (text: string) => Buffer.from(text).toString('base64url')
    await expectRefused(
      target,
      'x'.repeat(60_000),
      'x'.repeat(200_000),
      `${part('{"alg":"RS256"}')}.${part(deep)}.x`,
      `${part(deep)}.${part('{}')}.x`,
      `${part('[]')}.${part('null')}.x`,
      `${part('{"alg":"RS256"}')}.${part(`{"iss":"${target.issuer}","iss":"x"}`)}.x`,
      '__proto__',
      'constructor',
      '\u{1f600}',
    )
  })
})

describe('tokens at the wrong time or place', () => {
  it('expired, not yet valid, issued in the future, without or with an invalid expiration', async () => {
    const now = seconds(target)
    const times = [
      { exp: now - 11 },
      { nbf: now + 11 },
      { iat: now + 11 },
      { exp: undefined },
      { exp: String(now + 60) },
      { exp: -1 },
      { exp: null },
      { exp: { valueOf: now + 60 } },
      { nbf: 'never', exp: now + 60 },
    ]
    for (const claims of times)
      await expectRefused(
        target,
        forgeToken({ header: { alg: 'RS256' }, claims: await accountClaims(target, claims), signer: target.signingKey }),
      )
    // The clock of another issuer may be minutes ahead, as in kube-apiserver, but its tokens expire on time.
    const others = [{ exp: now - 1 }, { nbf: now + 301 }, { iat: now + 301 }, ...times.slice(3)]
    for (const claims of others) await expectRefused(target, target.oidc.token({ claims }))
  })

  it('from another or a similar issuer', async () => {
    for (const suffix of ['/', ' ', '\u0000', '.', '#', '?x'])
      await expectRefused(
        target,
        forgeToken({
          header: { alg: 'RS256' },
          claims: await accountClaims(target, { iss: `${target.issuer}${suffix}` }),
          signer: target.signingKey,
        }),
        target.oidc.token({ claims: { iss: `${target.oidc.issuerUrl}${suffix}` } }),
      )
    for (const iss of [target.issuer.toUpperCase(), [target.issuer], { 0: target.issuer }, null])
      await expectRefused(
        target,
        forgeToken({ header: { alg: 'RS256' }, claims: await accountClaims(target, { iss }), signer: target.signingKey }),
      )
  })

  it("an ID token with the service account issuer, and a service account token with the provider's issuer", async () => {
    await expectRefused(
      target,
      target.oidc.token({ claims: await accountClaims(target) }),
      target.oidc.token({ claims: { ...(await accountClaims(target)), iss: target.oidc.issuerUrl } }),
      forgeToken({
        header: { alg: 'RS256', kid: 'key-1' },
        claims: { iss: target.oidc.issuerUrl, aud: target.oidc.clientId, sub: 'alice', exp: seconds(target) + 60 },
        signer: target.signingKey,
      }),
    )
  })

  it('for another audience', async () => {
    await expectRefused(
      target,
      await target.tokenOf('robot', { audiences: ['vault'] }),
      await target.tokenOf('robot', { audiences: [`${target.issuer}/`] }),
      target.oidc.token({ claims: { aud: 'another-client' } }),
      target.oidc.token({ claims: { aud: [`${target.oidc.clientId} `], azp: target.oidc.clientId } }),
    )
  })

  it('a provider cannot name cluster users, since its names are prefixed', async () => {
    for (const sub of ['system:admin', 'system:serviceaccount:default:robot', 'admin']) {
      const { username, groups } = await target.authenticate({ token: target.oidc.token({ claims: { sub } }) })
      expect(username).toBe(`https://issuer.test#${sub}`)
      expect(groups).not.toContain('system:masters')
    }
  })
})
