import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificateAuthority, createFakeOidcProvider, type FakeOidcProvider } from '@krmkit/authentication/testing'
import { loadKubeconfig, remoteClient } from '@krmkit/client'
import { listen } from '@krmkit/http'
import { type Clock, fakeClock, seededRandom, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { createProgram } from '../program.ts'
import { serve } from '../serve.ts'
import type { ServeOptions } from '../serve-options.ts'
import { configuredAuthentication } from './configured.ts'

let folder: string
const closing: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-configured-'))
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await rm(folder, { recursive: true })
})

/** An OpenID provider on a port, with an authority of its own. */
async function provider(clock: Clock): Promise<{ lab: FakeOidcProvider; authority: string }> {
  const ca = createCertificateAuthority({ name: 'issuer', clock: systemClock, random: systemRandom })
  const { certificate, key } = ca.issue({ usage: 'server', hosts: ['127.0.0.1'] })
  let lab: FakeOidcProvider | undefined
  const handle: Parameters<typeof listen>[0]['handle'] = async ({ path, signal }) => {
    const answer = await lab!.fetch(`${lab!.issuerUrl}${path}`, { method: 'GET', headers: {}, signal, redirect: 'error' })
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
  const configured = await configuredAuthentication(await write(value), {
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
    // Once: answers of issuers are waited for by the same clock.
    clock.advance(10_000)
    await expect.poll(() => errors.length + reloads.length > before, { interval: 5 }).toBe(true)
  }
  return { configured, change, errors, reloads, judge: async (token: string) => configured.tokens.authenticateToken(token) }
}

describe('configuredAuthentication', () => {
  it('makes users of claims by expressions, and judges both', async () => {
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

  it('follows its file: issuers come and go, callers without credentials are decided on at the start', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const [one, two] = [await provider(clock), await provider(clock)]
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const { judge, change, errors, reloads, configured } = await follow({ jwt: [issuerOf(one)], anonymous }, clock)
    expect(configured.anonymous).toEqual({ enabled: true, paths: ['/livez'] })
    // Whoever is being asked is waited for by the same clock.
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

  it('keeps to the former issuers while a new one cannot be asked', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const [one, two] = [await provider(clock), await provider(clock)]
    const { judge, change, errors, reloads } = await follow({ jwt: [issuerOf(one)] }, clock)
    expect(await judge(one.lab.token())).toMatchObject({ kind: 'authenticated' })
    two.lab.faults.always = { status: 503 }
    await change({ jwt: [issuerOf(two)] })
    await expect.poll(() => errors.join('\n'), { interval: 5 }).toContain('the former configuration stays in force')
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
  ])('refuses to start with %j', async (value, message) => {
    await expect(follow(value)).rejects.toMatchObject({ code: 'InvalidFlag', message: expect.stringContaining(message) })
  })
})

describe('--authentication-config', () => {
  const start = async (...flags: string[]) => {
    let options: ServeOptions | undefined
    const take = async (given: ServeOptions) => {
      options = given
    }
    const line = ['node', 'krmkit', 'serve', '--secure-port=0', `--data-dir=${folder}/data`, ...flags]
    await createProgram({ terminal: testTerminal(), serve: take }).parseAsync(line)
    const serving = await serve(options!, { info: () => undefined, error: () => undefined })
    closing.push(() => serving.close())
    const { server, ca } = await loadKubeconfig({ path: serving.kubeconfig! })
    return async (path: string, token?: string) => {
      const client = remoteClient({ server, ca: ca!, ...(token === undefined ? {} : { token }) })
      closing.push(() => client.close())
      return client.request({ path })
    }
  }

  it('P248 lets issuers and anonymous callers in as the file says', async () => {
    const issuer = await provider(systemClock)
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const get = await start(`--authentication-config=${await write({ jwt: [issuerOf(issuer)], anonymous })}`)
    expect((await get('/livez')).status).toBe(200)
    for (const path of ['/readyz', '/api', '/livez/ping']) expect((await get(path)).status, path).toBe(401)
    expect((await get('/api', issuer.lab.token())).status).toBe(200)
    expect((await get('/livez', 'wrong')).status).toBe(401)
  })

  it('P248 nobody comes in without credentials where the file says so', async () => {
    const get = await start(`--authentication-config=${await write({ anonymous: { enabled: false } })}`)
    expect((await get('/livez')).status).toBe(401)
  })

  it('contradicts flags that say the same', async () => {
    const config = `--authentication-config=${await write({ anonymous: { enabled: true } })}`
    await expect(start(config, '--oidc-issuer-url=https://a.test', '--oidc-client-id=c')).rejects.toMatchObject({
      message: 'authentication-config file and oidc-* flags are mutually exclusive',
    })
    await expect(start(config, '--anonymous-auth=true')).rejects.toMatchObject({
      message: '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    })
  })
})
