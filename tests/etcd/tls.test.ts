/** etcd over TLS, with client certificates and permissions. Needs the program that `KRMKIT_ETCD` names. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom, systemClock } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCertificateAuthority } from '../../packages/authentication/src/testing/certificate-authority.ts'
import { type EtcdTls, etcdStorage } from '../../packages/storage/src/etcd/index.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'

const program = etcdProgram()

if (program === undefined) it.skip(`etcd over TLS: ${withoutEtcd}`)
else describe('storage in etcd over TLS', () => overTls(program))

function overTls(program: string): void {
  const environment = { clock: systemClock, random: seededRandom(1) }
  const authority = createCertificateAuthority({ name: 'etcd', ...environment })
  const stranger = createCertificateAuthority({ name: 'stranger', ...environment })
  const clientOf = (commonName: string, { by = authority, ca = authority } = {}): EtcdTls => {
    const { certificate, key } = by.issue({ commonName })
    return { ca: ca.certificate, certificate, key }
  }
  const open = (tls: EtcdTls | undefined, host = '127.0.0.1') =>
    etcdStorage({ endpoints: [`https://${host}:${port}`], timeoutMs: 1500, compactionIntervalMs: 0, ...(tls && { tls }) })
  const value = () => new TextEncoder().encode('1')
  let folder: string
  let etcd: EtcdProcess
  let port: number

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'krmkit-etcd-tls-'))
    port = await freePort()
    // etcd calls itself with its certificate, for its gateway.
    const serving = authority.issue({ commonName: 'root', hosts: ['127.0.0.1'], usage: 'any' })
    const files = { 'ca.crt': authority.certificate, 'etcd.crt': serving.certificate, 'etcd.key': serving.key }
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    etcd = await EtcdProcess.prepare(program, [])
    etcd.addFlags([
      ...['--listen-client-urls', `${etcd.url},https://127.0.0.1:${port}`, '--client-cert-auth'],
      ...['--trusted-ca-file', join(folder, 'ca.crt')],
      ...['--cert-file', join(folder, 'etcd.crt'), '--key-file', join(folder, 'etcd.key')],
    ])
    await etcd.start()
  })
  afterAll(async () => {
    await etcd.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  it('reads, writes and follows', async () => {
    await using one = await open(clientOf('one'))
    await using two = await open(clientOf('two'))
    await one.put('/a/x', value)
    await two.refresh?.()
    expect(two.count('/a/')).toBe(1)
  })

  it.each<[string, () => EtcdTls | undefined, string, string?]>([
    ['without a client certificate', () => ({ ca: authority.certificate }), 'no member of etcd can be reached'],
    ['with a certificate of another authority', () => clientOf('one', { by: stranger }), 'no member of etcd can be reached'],
    ['when the server is certified by another authority', () => clientOf('one', { ca: stranger }), 'unable to verify'],
    ['when the certificate names another server', () => clientOf('one'), "does not match certificate's altnames", 'localhost'],
  ])('cannot be opened %s', async (_case, tls, problem, host) => {
    await expect(open(tls(), host)).rejects.toMatchObject({
      code: 'Unavailable',
      detail: { reason: 'remote', problem: expect.stringContaining(problem) },
    })
  })

  it('refuses what the client has no permission for', async () => {
    await using refused = await open(clientOf('visitor'))
    const manage = async (method: string, request: object) => {
      const response = await fetch(`${etcd.url}/v3/auth/${method}`, { method: 'POST', body: JSON.stringify(request) })
      expect(response.status, await response.text()).toBe(200)
    }
    await manage('role/add', { name: 'root' })
    for (const name of ['root', 'visitor']) await manage('user/add', { name, options: { no_password: true } })
    await manage('user/grant', { user: 'root', role: 'root' })
    await manage('enable', {})
    await using allowed = await open(clientOf('root'))
    expect((await allowed.put('/b/x', value)).outcome).toBe('written')
    const failure = { code: 'Unavailable', detail: { reason: 'remote', problem: expect.stringContaining('permission denied') } }
    await expect(refused.put('/b/y', value, { expect: 0 })).rejects.toMatchObject(failure)
    await expect(open(clientOf('visitor'))).rejects.toMatchObject(failure)
    await allowed.refresh?.()
    expect(allowed.count('/b/')).toBe(1)
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
