import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadKubeconfig } from './kubeconfig.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-client-'))
})
afterAll(() => rm(folder, { recursive: true }))

let count = 0
const file = async (text: string) => {
  const path = join(folder, `config-${count++}`)
  await writeFile(path, text)
  return path
}
const config = (cluster: string, user: string) => `apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: {cluster: c, user: u, namespace: team}
- name: bare
  context: {cluster: c}
clusters:
- name: c
  cluster:
    server: https://host:6443
${cluster}
users:
- name: u
  user:
${user}
`
const load = async (cluster: string, user: string, context?: string) =>
  loadKubeconfig({ path: await file(config(cluster, user)), ...(context === undefined ? {} : { context }) })
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('loadKubeconfig', () => {
  it('reads server, namespace and token of the current context', async () => {
    expect(await load('', '    token: secret')).toEqual({
      context: 'main',
      namespace: 'team',
      server: 'https://host:6443',
      token: 'secret',
    })
  })

  it('reads a named context, which may have no user', async () => {
    expect(await load('', '    token: secret', 'bare')).toEqual({
      context: 'bare',
      namespace: 'default',
      server: 'https://host:6443',
    })
  })

  it('reads certificates as data and as files relative to the config', async () => {
    const authority = '-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n'
    await writeFile(join(folder, 'ca.pem'), authority)
    await writeFile(join(folder, 'user.key'), 'KEY')
    expect(
      await load(
        '    certificate-authority: ca.pem\n    tls-server-name: other',
        `    client-certificate-data: ${base64('CERT')}\n    client-key: ${folder}/user.key`,
      ),
    ).toMatchObject({ ca: authority, tlsServerName: 'other', certificate: 'CERT', key: 'KEY' })
    expect(
      await load('    insecure-skip-tls-verify: true\n    certificate-authority: missing.pem', '    token: t'),
    ).toMatchObject({
      insecureSkipTlsVerify: true,
    })
  })

  it('reads a token file for every request', async () => {
    const path = join(folder, 'token')
    await writeFile(path, 'one\n')
    const { token } = await load('', '    tokenFile: token\n    token: loses')
    if (typeof token !== 'function') throw new Error('not a function')
    expect(await token()).toBe('one')
    await writeFile(path, 'two')
    expect(await token()).toBe('two')
    await rm(path)
    await expect(token()).rejects.toMatchObject({ code: 'InvalidKubeconfig' })
  })

  it('reads the impersonated user', async () => {
    expect((await load('', '    token: t\n    as: bob\n    as-groups: [dev, ops]\n    as-uid: "7"')).impersonate).toEqual({
      user: 'bob',
      groups: ['dev', 'ops'],
      uid: '7',
    })
  })

  it('merges the files of KUBECONFIG: the first value takes precedence, missing files are skipped', async () => {
    const first = await file(JSON.stringify({ 'current-context': 'main', users: [{ name: 'u', user: { token: 'first' } }] }))
    const second = await file(config('', '    token: second'))
    const env = { KUBECONFIG: [join(folder, 'missing'), first, '', second].join(delimiter) }
    expect(await loadKubeconfig({ env })).toMatchObject({ server: 'https://host:6443', token: 'first' })
  })

  it('falls back to the file in the home directory', async () => {
    await mkdir(join(folder, '.kube'))
    await writeFile(join(folder, '.kube', 'config'), config('', '    token: home'))
    expect(await loadKubeconfig({ env: { HOME: folder } })).toMatchObject({ token: 'home' })
  })

  it.each([['an auth provider', '    auth-provider: {name: oidc}', 'auth-provider']])(
    'rejects %s by name',
    async (_, user, message) => {
      await expect(load('', user)).rejects.toMatchObject({ code: 'Unsupported', message: expect.stringContaining(message) })
    },
  )

  it.each(['http://proxy:3128', 'https://me:secret@proxy', 'socks5://[::1]:1080'])('reads the proxy %s', async (proxyUrl) => {
    expect(await load(`    proxy-url: ${proxyUrl}`, '    token: t')).toMatchObject({ proxyUrl })
  })

  it.each([
    ['ftp://me:hidden@proxy', 'Unsupported'],
    ['"http://me:hidden@pro xy"', 'InvalidKubeconfig'],
  ])('rejects the proxy %s, without quoting it', async (proxyUrl, code) => {
    const failure = await load(`    proxy-url: ${proxyUrl}`, '    token: t').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code, message: expect.stringMatching(/^kubeconfig: c: proxy-url: /) })
    expect(String(failure)).not.toContain('hidden')
  })

  it.each([
    ['invalid YAML', 'a: [', undefined],
    ['a list', '- a', undefined],
    ['no current context', 'clusters: []', undefined],
    ['clusters that are not a list', 'clusters: 7', undefined],
    ['an unknown context', config('', '    token: t'), 'other'],
    ['an unknown context named like an inherited property', config('', '    token: t'), 'constructor'],
    ['a certificate without its key', config('', `    client-certificate-data: ${base64('x')}`), undefined],
    ['truncated base64', config(`    certificate-authority-data: ${base64('CA').slice(1)}`, '    token: t'), undefined],
    ['authorities without a certificate', config(`    certificate-authority-data: ${base64('CA')}`, '    token: t'), undefined],
    [
      'authorities with an incomplete block',
      config(`    certificate-authority-data: ${base64('-----BEGIN CERTIFICATE-----')}`, ''),
      undefined,
    ],
    ['a flag that is not a boolean', config('    insecure-skip-tls-verify: "no"', '    token: t'), undefined],
    ['a credential under a misspelled name', config('', '    tokenfile: t'), undefined],
    ['data that is not base64', config('    certificate-authority-data: "***"', '    token: t'), undefined],
    ['a missing file', config('    certificate-authority: nowhere.pem', '    token: t'), undefined],
    ['a token that is not a string', config('', '    token: 7'), undefined],
    ['a missing cluster', config('', '    token: t').replace('cluster: c,', 'cluster: d,'), undefined],
    ['a cluster without a server', config('', '    token: t').replace('server: https://host:6443', 'server: ""'), undefined],
  ])('rejects %s', async (_, text, context) => {
    const loaded = loadKubeconfig({ path: await file(text), ...(context === undefined ? {} : { context }) })
    await expect(loaded).rejects.toMatchObject({ name: 'ClientError', code: 'InvalidKubeconfig' })
  })

  it('rejects a missing file', async () => {
    await expect(loadKubeconfig({ path: join(folder, 'nowhere') })).rejects.toMatchObject({ code: 'InvalidKubeconfig' })
    await expect(loadKubeconfig({ env: { KUBECONFIG: join(folder, 'nowhere') } })).rejects.toMatchObject({
      code: 'InvalidKubeconfig',
    })
  })
})
