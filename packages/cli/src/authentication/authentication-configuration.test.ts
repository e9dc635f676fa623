import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateAuthority, createFakeOidcProvider, type FakeOidcProvider } from '@krmkit/authentication/testing'
import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { listen } from '@krmkit/http'
import { type Clock, fakeClock, seededRandom, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '../serve.ts'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { createConfiguredAuthentication } from './authentication-configuration.ts'

const folder = temporaryFolder({ perTest: true })
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** An OpenID provider on a port, with a separate authority. */
async function provider(clock: Clock): Promise<{ lab: FakeOidcProvider; authority: string }> {
  const ca = createCertificateAuthority({ name: 'issuer', clock: systemClock, random: systemRandom })
  const { certificate, key } = ca.issue({ usage: 'server', hosts: ['127.0.0.1'] })
  let lab: FakeOidcProvider | undefined
  const handle: Parameters<typeof listen>[0]['handle'] = async ({ path, signal }) => {
    const answer = await lab!.fetch(`${lab!.issuerUrl}${path}`, { method: 'GET', headers: {}, signal, redirect: 'manual' })
    const parts: Uint8Array[] = []
    for await (const part of answer.body ?? []) parts.push(part)
    return { status: answer.status, headers: {}, body: { kind: 'bytes', bytes: Buffer.concat(parts) } }
  }
  const listening = await listen({ handle }, { tls: { certificate, key } })
  closing.push(() => listening.close({ graceMs: 0 }))
  lab = createFakeOidcProvider({ clock, issuerUrl: listening.url, algorithm: 'ES256' })
  return { lab, authority: ca.certificate }
}
const issuerOf = ({ lab, authority }: { readonly lab: FakeOidcProvider; readonly authority: string }, more: object = {}) => ({
  issuer: { url: lab.issuerUrl, certificateAuthority: authority, audiences: [lab.clientId] },
  claimMappings: {
    username: { expression: "'oidc:' + claims.sub" },
    groups: { expression: "claims.?roles.orValue('')" },
    uid: { claim: 'sub' },
    extra: [{ key: 'example.com/tenant', valueExpression: "claims.?tenant.orValue('')" }],
  },
  claimValidationRules: [{ expression: "claims.?level.orValue('low') != 'bad'", message: 'of a bad level' }],
  userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
  ...more,
})
const head = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }
const write = async (value: object) => {
  const path = join(folder, 'authentication.yaml')
  await writeFile(path, printYaml({ ...head, ...value }))
  return path
}

async function follow(value: object, clock = fakeClock(Date.UTC(2026, 0, 1))) {
  const errors: string[] = []
  const reloads: string[] = []
  const configured = await createConfiguredAuthentication(await write(value), {
    clock,
    random: seededRandom(1),
    profile: stockProfile,
    ownIssuers: ['https://kubernetes.default.svc'],
    onError: (error) => errors.push(String(error)),
    onReload: (flag) => reloads.push(flag),
  })
  closing.push(async () => configured[Symbol.asyncDispose]())
  const change = async (next: object) => {
    await write(next)
    const before = errors.length + reloads.length
    // The clock advances once, because the requests to issuers use the same clock.
    clock.advance(10_000)
    await expect.poll(() => errors.length + reloads.length > before, { interval: 5 }).toBe(true)
  }
  return { configured, change, errors, reloads, judge: async (token: string) => configured.tokens.authenticateToken(token) }
}

describe('createConfiguredAuthentication', () => {
  it('maps claims to users by expressions, and validates both', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const issuer = await provider(clock)
    const { judge, configured } = await follow({ jwt: [issuerOf(issuer)] }, clock)
    const token = (claims: object) => judge(issuer.lab.token({ claims: { ...claims } }))
    expect(await token({ roles: ['a', 'b'], tenant: 't', jti: 'x' })).toMatchObject({
      kind: 'authenticated',
      user: {
        username: 'oidc:alice',
        groups: ['a', 'b'],
        uid: 'alice',
        extra: { 'example.com/tenant': ['t'], 'authentication.kubernetes.io/credential-id': ['JTI=x'] },
      },
    })
    expect(await token({ level: 'bad' })).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('of a bad level') })
    expect(await token({ aud: 'other' })).toMatchObject({ kind: 'rejected' })
    expect(await judge('nonsense')).toEqual({ kind: 'noOpinion' })
    expect(configured.anonymous).toBeUndefined()
  })

  it('reloads issuers when the file changes, but not the settings of anonymous requests', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const [one, two] = [await provider(clock), await provider(clock)]
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const { judge, change, errors, reloads, configured } = await follow({ jwt: [issuerOf(one)], anonymous }, clock)
    expect(configured.anonymous).toEqual({ enabled: true, paths: ['/livez'] })
    // Requests to issuers use the same clock.
    expect(await judge(one.lab.token())).toMatchObject({ kind: 'authenticated' })
    expect(await judge(two.lab.token())).toEqual({ kind: 'noOpinion' })
    await change({ jwt: [issuerOf(one), issuerOf(two)], anonymous })
    expect(reloads).toEqual(['authentication-config'])
    expect(await judge(two.lab.token())).toMatchObject({ kind: 'authenticated' })
    const cases: [object, string][] = [
      [{ jwt: [], anonymous: { enabled: false } }, 'anonymous: Forbidden: changed from initial configuration file'],
      [{ jwt: [issuerOf(one), issuerOf(one)], anonymous }, 'jwt[1].issuer.url: Duplicate value'],
      [{ jwts: [], anonymous }, 'strict decoding error: unknown field "jwts"'],
      [
        { jwt: [issuerOf(one, { userValidationRules: [{ expression: 'user.name' }] })], anonymous },
        'jwt[0].userValidationRules[0].expression: Invalid value: "user.name": compilation failed',
      ],
    ]
    for (const [next, message] of cases) {
      await change(next)
      expect(errors.at(-1)).toContain(message)
      expect(await judge(two.lab.token())).toMatchObject({ kind: 'authenticated' })
    }
    await change({ jwt: [], anonymous })
    expect(await judge(two.lab.token())).toEqual({ kind: 'noOpinion' })
  })

  it('keeps the previous issuers while a new one is unreachable', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const [one, two] = [await provider(clock), await provider(clock)]
    const { judge, change, errors, reloads } = await follow({ jwt: [issuerOf(one)] }, clock)
    expect(await judge(one.lab.token())).toMatchObject({ kind: 'authenticated' })
    two.lab.faults.always = { status: 503 }
    await change({ jwt: [issuerOf(two)] })
    await expect.poll(() => errors.join('\n'), { interval: 5 }).toContain('the previous configuration stays in effect')
    expect(await judge(one.lab.token())).toMatchObject({ kind: 'authenticated' })
    two.lab.faults.always = undefined
    clock.advance(10_000)
    await expect.poll(() => reloads.length, { interval: 5 }).toBe(1)
    expect(await judge(two.lab.token())).toMatchObject({ kind: 'authenticated' })
    expect(await judge(one.lab.token())).toEqual({ kind: 'noOpinion' })
  })

  it.each<[object, string]>([
    [
      { jwt: [{ issuer: { url: 'https://kubernetes.default.svc', audiences: ['a'] } }] },
      'URL must not overlap with disallowed issuers',
    ],
    [{ jwt: [{}] }, 'jwt[0].issuer.url: Required value: URL is required'],
    [{ jwt: [], kind: 'Other' }, 'no kind "Other" is registered'],
  ])('rejects %j at the start', async (value, message) => {
    await expect(follow(value)).rejects.toMatchObject({ code: 'InvalidFlag', message: expect.stringContaining(message) })
  })
})

describe('--authentication-config', () => {
  const start = async (...flags: string[]) => {
    const serving = await serve(await serveOptions(`${folder}/data`, flags), { info: () => undefined, error: () => undefined })
    closing.push(() => serving.close())
    const { server, ca } = await loadKubeconfig({ path: serving.kubeconfig! })
    return async (path: string, token?: string) => {
      const client = createRemoteClient({ server, ca: ca!, ...(token === undefined ? {} : { token }) })
      closing.push(() => client.close())
      return client.request({ path })
    }
  }

  it('accepts the issuers and anonymous requests of the file [P248]', async () => {
    const issuer = await provider(systemClock)
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const get = await start(`--authentication-config=${await write({ jwt: [issuerOf(issuer)], anonymous })}`)
    expect((await get('/livez')).status).toBe(200)
    for (const path of ['/readyz', '/api', '/livez/ping']) expect((await get(path)).status, path).toBe(401)
    expect((await get('/api', issuer.lab.token())).status).toBe(200)
    expect((await get('/livez', 'wrong')).status).toBe(401)
  })

  it('rejects anonymous requests when the file disables them [P248]', async () => {
    const get = await start(`--authentication-config=${await write({ anonymous: { enabled: false } })}`)
    expect((await get('/livez')).status).toBe(401)
  })

  it('excludes the corresponding flags', async () => {
    const config = `--authentication-config=${await write({ anonymous: { enabled: true } })}`
    await expect(start(config, '--oidc-issuer-url=https://a.test', '--oidc-client-id=c')).rejects.toMatchObject({
      message: 'authentication-config file and oidc-* flags are mutually exclusive',
    })
    await expect(start(config, '--anonymous-auth=true')).rejects.toMatchObject({
      message: '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    })
  })
})
