import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CertificateAuthority, createCertificateAuthority } from '@krmkit/authentication/testing'
import { systemClock, systemRandom } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenIdProvider, startOpenIdProvider } from '../authentication/support/openid-provider.ts'
import {
  bystanderToken,
  type Json,
  type Kubectl,
  type KubectlWorld,
  kubectlMissing,
  skipNote,
  startKubectlWorld,
} from './support/kubectl.ts'

/** Stock kubectl with every method of authentication. */

const suite = describe.skipIf(kubectlMissing !== undefined)
let world: KubectlWorld
let people: CertificateAuthority
let provider: OpenIdProvider
let folder: string
let cluster: Json

beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  folder = await mkdtemp(join(tmpdir(), 'krmkit-kubectl-auth-'))
  people = createCertificateAuthority({ name: 'people', clock: systemClock, random: systemRandom })
  provider = await startOpenIdProvider()
  await writeFile(join(folder, 'people.pem'), people.certificate)
  await writeFile(join(folder, 'provider.pem'), provider.authority)
  world = await startKubectlWorld([
    `--client-ca-file=${join(folder, 'people.pem')}`,
    '--enable-bootstrap-token-auth',
    `--oidc-issuer-url=${provider.issuerUrl}`,
    `--oidc-client-id=${provider.clientId}`,
    `--oidc-ca-file=${join(folder, 'provider.pem')}`,
    '--oidc-username-claim=email',
    '--oidc-groups-claim=groups',
    '--oidc-groups-prefix=oidc:',
  ])
  cluster = (await world.kubectl.json<Json>('config view --raw')).clusters[0].cluster
})

afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

let count = 0
/** kubectl with a kubeconfig for this user only. */
async function as(user: object): Promise<Kubectl> {
  const path = await world.kubectl.file(`user-${count++}`, {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  })
  return world.kubectl.with('--kubeconfig', path)
}
const whoAmI = async (kubectl: Kubectl): Promise<Json> => (await kubectl.json<Json>('auth whoami')).status.userInfo
const base64 = (text: string) => Buffer.from(text).toString('base64')

suite(`kubectl auth whoami${skipNote}`, () => {
  it('prints name, uid, groups and extra values', async () => {
    const text = await world.kubectl.run('auth whoami')
    expect(text).toMatch(/^ATTRIBUTE +VALUE\nUsername +kubernetes-admin\nUID +1\nGroups +\[system:masters system:authenticated\]/)
  })

  it('authenticates static tokens, and rejects wrong ones', async () => {
    expect(await whoAmI(await as({ token: bystanderToken }))).toEqual({
      username: 'bystander',
      uid: '2',
      groups: ['watchers', 'system:authenticated'],
    })
    expect(await (await as({ token: 'wrong' })).refused('auth whoami')).toContain('Unauthorized')
  })

  it('authenticates client certificates, as data and as files', async () => {
    const { certificate, key } = people.issue({ commonName: 'alice', organizations: ['dev'], uids: ['u-1'] })
    const data = await as({ 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) })
    const paths = await Promise.all([world.kubectl.file('alice.crt', certificate), world.kubectl.file('alice.key', key)])
    const files = await as({ 'client-certificate': paths[0], 'client-key': paths[1] })
    for (const kubectl of [data, files])
      expect(await whoAmI(kubectl)).toMatchObject({ username: 'alice', uid: 'u-1', groups: ['dev', 'system:authenticated'] })
  })

  it('sends no certificate of an authority that the server does not request', async () => {
    const other = createCertificateAuthority({ name: 'others', clock: systemClock, random: systemRandom })
    const { certificate, key } = other.issue({ commonName: 'alice' })
    const kubectl = await as({ 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) })
    expect(await kubectl.refused('auth whoami')).toMatch(/Unauthorized|forbidden/)
  })

  it('authenticates ID tokens of an OpenID provider [P239]', async () => {
    expect(await whoAmI(await as({ token: await provider.idToken('alice') }))).toEqual({
      username: 'alice@example.com',
      groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
    })
  })

  it('authenticates bootstrap tokens [P261]', async () => {
    const stringData = {
      ...{ 'token-id': 'kubect', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
      'auth-extra-groups': 'system:bootstrappers:kubectl',
    }
    const metadata = { name: 'bootstrap-token-kubect', namespace: 'kube-system' }
    await world.kubectl.create({ apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token', metadata, stringData })
    expect(await whoAmI(await as({ token: 'kubect.0123456789abcdef' }))).toEqual({
      username: 'system:bootstrap:kubect',
      groups: ['system:bootstrappers', 'system:bootstrappers:kubectl', 'system:authenticated'],
    })
  })
})

suite(`kubectl create token${skipNote}`, () => {
  let kubectl: Kubectl
  beforeAll(async () => {
    kubectl = await world.namespace('tokens')
    await kubectl.run('create serviceaccount robot')
  })
  const claimsOf = (token: string): Json => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

  it('creates a token that authenticates the service account [P237]', async () => {
    const token = await kubectl.run('create token robot')
    expect(await whoAmI(await as({ token }))).toMatchObject({
      username: 'system:serviceaccount:tokens:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:tokens', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claimsOf(token).jti}`] },
    })
  })

  it('creates tokens with a duration, audiences and a bound object', async () => {
    await kubectl.run('create secret generic s')
    const token = await kubectl.run('create token robot --duration=2h --bound-object-kind=Secret --bound-object-name=s')
    const claims = claimsOf(token)
    expect(claims.exp - claims.iat).toBe(7200)
    expect(claims['kubernetes.io']).toMatchObject({ secret: { name: 's' }, serviceaccount: { name: 'robot' } })
    const holder = await as({ token })
    expect(await whoAmI(holder)).toMatchObject({ username: 'system:serviceaccount:tokens:robot' })
    await kubectl.run('delete secret s')
    expect(await holder.refused('auth whoami')).toContain('Unauthorized')
    const vault = await kubectl.run('create token robot --audience=vault --audience=store')
    expect(claimsOf(vault).aud).toEqual(['vault', 'store'])
    expect(await (await as({ token: vault })).refused('auth whoami')).toContain('Unauthorized')
  })

  it('refuses durations below ten minutes and missing accounts [P327]', async () => {
    expect(await kubectl.refused('create token robot --duration=5m')).toContain('may not specify a duration less than 10 minutes')
    expect(await kubectl.refused('create token missing')).toContain('serviceaccounts "missing" not found')
  })

  it('fills token Secrets [P238]', async () => {
    await kubectl.create({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { name: 'kept', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    })
    await kubectl.run('wait --for=jsonpath={.data.token} secret/kept --timeout=30s')
    const { data } = await kubectl.json('get secret kept')
    expect(Object.keys(data).sort()).toEqual(['ca.crt', 'namespace', 'token'])
    const token = Buffer.from(data.token, 'base64').toString()
    expect(await whoAmI(await as({ token }))).toMatchObject({ username: 'system:serviceaccount:tokens:robot' })
  })
})

suite(`kubectl with a credential command${skipNote}`, () => {
  const group = 'client.authentication.k8s.io'
  /** A command that records its input and prints these credentials. */
  const plugin = async (version: string, status: object) => {
    const name = `plugin-${count++}`
    const note = join(folder, `${name}.note`)
    const answer = JSON.stringify({ kind: 'ExecCredential', apiVersion: `${group}/${version}`, status })
    const command = await world.kubectl.file(
      name,
      `#!/bin/sh\nprintf '%s' "$KUBERNETES_EXEC_INFO" > ${note}\ncat <<'E'\n${answer}\nE\n`,
    )
    return { command, readInput: async () => JSON.parse(await readFile(note, 'utf8')) as Json }
  }

  it.each(['v1', 'v1beta1'])('authenticates with the credential of the plugin, in %s [P266]', async (version) => {
    const { command, readInput } = await plugin(version, { token: bystanderToken })
    const exec = { command, apiVersion: `${group}/${version}`, interactiveMode: 'Never', provideClusterInfo: true }
    expect(await whoAmI(await as({ exec }))).toMatchObject({ username: 'bystander' })
    expect(await readInput()).toMatchObject({ spec: { interactive: false, cluster: { server: cluster.server } } })
  })

  it('authenticates with the certificate of the plugin [P266]', async () => {
    const { certificate, key } = people.issue({ commonName: 'carol', organizations: ['ops'] })
    const { command } = await plugin('v1', { clientCertificateData: certificate, clientKeyData: key })
    const exec = { command, apiVersion: `${group}/v1`, interactiveMode: 'Never' }
    expect(await whoAmI(await as({ exec }))).toMatchObject({ username: 'carol', groups: ['ops', 'system:authenticated'] })
  })

  it('prints the install hint of a missing plugin [P266]', async () => {
    const exec = { command: 'no-such-command', apiVersion: `${group}/v1`, interactiveMode: 'Never', installHint: 'Look here.' }
    expect(await (await as({ exec })).refused('auth whoami')).toContain('Look here.')
  })
})
