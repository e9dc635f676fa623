import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateRequest } from '@krmkit/certificates'
import { publicKeyPinOf } from '@krmkit/certificates/bootstrap'
import { type Client, createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { afterEach, describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { type RunningServer, serve } from '../serve.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const Secret = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
const Node = resourceType({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const CertificateRequest = resourceType({
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
})
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

const folder = temporaryFolder({ perTest: true })
const running: RunningServer[] = []
const clients: Client[] = []
const logged: string[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const serving of running.splice(0)) await serving.close()
  logged.length = 0
})
const note = (text: string, error?: unknown) => void logged.push(`${text} ${String(error ?? '')}`)
const log = { info: note, error: note }

const run = (args: readonly string[], { stdin = '' } = {}) =>
  runCommand(args, testTerminal({ now: () => Date.now(), stdin: () => stdin }))
const start = async (...flags: string[]) => {
  const own = ['serve', '--secure-port=0', `--data-dir=${folder}/data`, '--enable-bootstrap-token-auth', '--v=2']
  const { options, err } = await run([...own, ...flags])
  if (options === undefined) throw new Error(err)
  const serving = await serve(options, log)
  running.push(serving)
  const config = ['--kubeconfig', serving.kubeconfig!]
  const connection = await loadKubeconfig({ path: serving.kubeconfig! })
  return { url: serving.url, config, ca: connection.ca!, pin: publicKeyPinOf(connection.ca!), admin: connect(connection) }
}
const connect = (connection: Parameters<typeof createRemoteClient>[0]) => {
  const client = createRemoteClient(connection)
  clients.push(client)
  return client
}
const whoIs = async (client: Client) => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} }
  return (await client.request({ method: 'POST', path: reviews, body })).json()
}

describe('joining a cluster', () => {
  it('leads from a token to a kubeconfig to a certificate request [P121] [P260] [P264]', async () => {
    const { url, config, pin, admin } = await start('--publish-cluster-info')
    const made = await run(['token', 'create', '--ttl=1h', '--description=for tests', ...config])
    expect(made).toMatchObject({ code: 0, err: '' })
    const token = made.out.trim()
    expect(token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/)

    const trust = ['--discovery-token-ca-cert-hash', pin]
    const found = await run(['join-info', url.replace('https://', ''), '--token', '-', ...trust], { stdin: `${token}\n` })
    expect(found).toMatchObject({ code: 0, err: '' })
    await writeFile(join(folder, 'joined.conf'), found.out)
    const connection = await loadKubeconfig({ path: join(folder, 'joined.conf') })
    expect(connection).toMatchObject({ server: url, token })
    const joiner = connect(connection)
    expect(await whoIs(joiner)).toMatchObject({
      status: {
        userInfo: {
          username: `system:bootstrap:${token.slice(0, 6)}`,
          groups: expect.arrayContaining(['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token']),
        },
      },
    })
    // The group of the token may only request certificates.
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    expect((await joiner.request({ path: requests })).status).toBe(200)
    expect((await joiner.request({ path: '/api/v1/secrets' })).status).toBe(403)

    // Without the token, cluster-info is readable but cannot be verified.
    const stranger = ['join-info', url, '--token', `${token.slice(0, 7)}aaaaaaaaaaaaaaaa`, ...trust, '--timeout=0s']
    expect(await run(stranger)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is invalid') })

    expect((await run(['token', 'delete', token, ...config])).out).toBe(`bootstrap token "${token.slice(0, 6)}" deleted\n`)
    expect((await joiner.request({ path: '/version' })).status).toBe(401)
    const gone = async () =>
      Object.keys((await admin.get(ConfigMap, 'cluster-info', { namespace: 'kube-public' })).data as object)
    await expect.poll(gone, { interval: 10 }).toEqual(['kubeconfig'])
    expect(logged.join('\n')).not.toContain(token.slice(7))
  })

  it('registers a node: token, cluster-info, request, approval, certificate, node [P131] [P134] [P261]', async () => {
    const { url, config, pin, ca } = await start('--publish-cluster-info', '--enable-admission-plugins=NodeRestriction')
    const token = (await run(['token', 'create', '--ttl=1h', ...config])).out.trim()
    const found = await run(['join-info', url, '--token', token, '--discovery-token-ca-cert-hash', pin])
    await writeFile(join(folder, 'joined.conf'), found.out)
    const joiner = connect(await loadKubeconfig({ path: join(folder, 'joined.conf') }))

    const { request, key } = createCertificateRequest({
      subject: { commonName: 'system:node:n1', organizations: ['system:nodes'] },
    })
    const spec = {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['key encipherment', 'digital signature', 'client auth'],
      expirationSeconds: 3600,
    }
    await joiner.create(CertificateRequest, { metadata: { name: 'n1' }, spec } as never)
    const signed = async () => {
      const { status } = (await joiner.get(CertificateRequest, 'n1')) as { status?: { certificate?: string } }
      return status?.certificate
    }
    await expect.poll(signed, { interval: 10, timeout: 10_000 }).toBeDefined()
    const certificate = Buffer.from((await signed()) ?? '', 'base64').toString()

    const node = connect({ server: url, ca, certificate, key })
    expect(await whoIs(node)).toMatchObject({
      status: { userInfo: { username: 'system:node:n1', groups: expect.arrayContaining(['system:nodes']) } },
    })
    await node.create(Node, { metadata: { name: 'n1' } })
    await expect(node.create(Node, { metadata: { name: 'n2' } })).rejects.toMatchObject({ code: 403 })
  })

  it('trusts an authority only when its public key is pinned [P124]', async () => {
    const { url, config, pin } = await start('--publish-cluster-info')
    const token = 'abcdef.0123456789abcdef'
    await run(['token', 'create', token, ...config])
    const ask = (...more: string[]) => run(['join-info', url, '--token', token, '--timeout=6s', ...more])
    const other = `sha256:${'0'.repeat(64)}`
    expect(await ask('--discovery-token-ca-cert-hash', other)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(pin),
    })
    expect(await ask()).toMatchObject({ code: 2, err: expect.stringContaining('--discovery-token-unsafe-skip-ca-verification') })
    expect(await ask('--discovery-token-ca-cert-hash', 'sha1:00')).toMatchObject({ code: 2 })
    const file = join(folder, 'bootstrap.conf')
    const written = await ask('--discovery-token-unsafe-skip-ca-verification', '--write-kubeconfig', file)
    expect(written).toMatchObject({ code: 0, out: '' })
    expect(written.err).not.toContain('0123456789abcdef')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toContain(token)
  })

  it('signs with the full token, and without excluded controllers, as flags configure [P123] [P265]', async () => {
    const { url, config, pin, admin } = await start('--publish-cluster-info', '--bootstrap-signing-key=full-token')
    const token = 'abcdef.0123456789abcdef'
    await run(['token', 'create', token, ...config])
    const trust = ['--discovery-token-ca-cert-hash', pin, '--timeout=6s']
    expect(await run(['join-info', url, '--token', token, ...trust, '--bootstrap-signing-key=full-token'])).toMatchObject({
      code: 0,
    })
    expect(await run(['join-info', url, '--token', token, ...trust])).toMatchObject({ code: 2 })
    await admin.delete(Secret, 'bootstrap-token-abcdef', { namespace: 'kube-system' })

    const without = await start('--publish-cluster-info', '--controllers=*,-bootstrapsigner', `--data-dir=${folder}/other`)
    await run(['token', 'create', token, ...without.config])
    const unsigned = await run([
      'join-info',
      without.url,
      '--token',
      token,
      '--discovery-token-ca-cert-hash',
      without.pin,
      '--timeout=0s',
    ])
    expect(unsigned).toMatchObject({ code: 2, err: expect.stringContaining('is not signed for the token abcdef') })
  })

  it('publishes nothing without --publish-cluster-info', async () => {
    const { url, config, ca, admin } = await start()
    await expect(admin.get(ConfigMap, 'cluster-info', { namespace: 'kube-public' })).rejects.toMatchObject({ reason: 'NotFound' })
    const anonymous = connect({ server: url, ca })
    const path = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
    expect((await anonymous.request({ path })).status).toBe(403)
    for (const server of ['https://a.example.com:6443', url]) {
      const published = await run(['token', 'publish-cluster-info', '--server', server, ...config])
      expect(published).toMatchObject({ code: 0, out: `kube-public/cluster-info published for ${server}\n` })
      expect(await (await anonymous.request({ path })).text()).toContain(server)
    }
    expect((await anonymous.request({ path: '/api/v1/namespaces/kube-public/configmaps' })).status).toBe(403)
  })
})

describe('krmkit token', () => {
  it('generate prints a token without a server [P120]', async () => {
    const { out, code } = await run(['token', 'generate'])
    expect(out).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}\n$/)
    expect(code).toBe(0)
  })

  it('creates, lists and deletes tokens', async () => {
    const { url, config, pin } = await start('--controllers=*,-tokencleaner')
    const create = (...more: string[]) => run(['token', 'create', ...more, ...config])
    expect(await create('aaaaaa.0123456789abcdef', '--print-join-command')).toMatchObject({
      out: `krmkit join-info ${url} --token aaaaaa.0123456789abcdef --discovery-token-ca-cert-hash ${pin}\n`,
    })
    await create('bbbbbb.0123456789abcdef', '--ttl=0', '--usages=signing', '--groups=', '--description=two\nlines')
    const { out } = await run(['token', 'list', ...config])
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^TOKEN +TTL +EXPIRES +USAGES +DESCRIPTION +EXTRA GROUPS$/)
    expect(lines[1]).toMatch(
      /^aaaaaa\.0123456789abcdef +23h +\S+Z +authentication,signing +<none> +system:bootstrappers:kubeadm:default-node-token$/,
    )
    expect(lines[2]).toMatch(/^bbbbbb\.0123456789abcdef +<forever> +<never> +signing +two lines +<none>$/)
    const json = JSON.parse((await run(['token', 'list', '-o', 'json', ...config])).out)
    expect(json.items).toMatchObject([{ token: 'aaaaaa.0123456789abcdef' }, { description: 'two\nlines', usages: ['signing'] }])
    expect((await run(['token', 'delete', 'aaaaaa', 'bbbbbb', ...config])).out.split('\n')).toHaveLength(3)
    expect((await run(['token', 'list', ...config])).out).toBe('')
    expect(await run(['token', 'delete', 'aaaaaa', ...config])).toMatchObject({
      code: 2,
      err: expect.stringContaining('not found'),
    })
  })

  it.each([
    [['create', 'ABCDEF.SECRETSECRET1234']],
    [['delete', 'abcdef.SECRETSECRET1234']],
    [['create', '--groups=system:masters']],
    [['create', '--usages=everything']],
  ])('rejects %j without printing a secret', async (args) => {
    const { code, err, out } = await run(['token', ...args, '--kubeconfig=/none'])
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toBe('')
    expect(err).not.toContain('SECRET')
  })
})
