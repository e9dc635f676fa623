import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateRequest, createSigningAuthority, signRequest } from '@krmkit/certificates'
import { readCertificateRequest, readCertificates } from '@krmkit/certificates/request'
import { type Client, createRemoteClient, type KubeconfigConnection, loadKubeconfig, resourceType } from '@krmkit/client'
import { type ApiObject, systemClock, systemRandom } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../serve.ts'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

/** Tests each signing flag with a server on a port. */

interface Csr extends ApiObject {
  spec: object
  status?: { certificate?: string; conditions?: { type: string; status: string; reason?: string; message?: string }[] }
}

const environment = { clock: systemClock, random: systemRandom }
const requests = resourceType<Csr>({
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
})
const clientSigner = 'kubernetes.io/kube-apiserver-client'

const folder = temporaryFolder({ perTest: true })
const closing: (() => Promise<unknown>)[] = []
const logged: string[] = []
beforeEach(async () => {
  logged.length = 0
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(...flags: string[]): Promise<RunningServer & { admin: Client; connection: KubeconfigConnection }> {
  const note = (text: string) => void logged.push(text)
  const serving = await serve(await serveOptions(`${folder}/data`, flags), { info: note, error: note })
  closing.push(() => serving.close())
  const connection = await loadKubeconfig({ path: serving.kubeconfig! })
  const admin = createRemoteClient(connection)
  closing.push(() => admin.close())
  return { ...serving, admin, connection }
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}
/** Writes the certificate and key of an authority. */
async function authority(name: string) {
  const made = await createSigningAuthority(environment)
  const certificate = await file(`${name}.crt`, made.certificate)
  const key = await file(`${name}.key`, made.key.export({ format: 'pem', type: 'pkcs8' }) as string)
  return { ...made, files: { certificate, key } }
}

/** Creates and approves a request, and waits until it is signed or failed. */
async function ask(
  client: Client,
  options: { name?: string; about?: Parameters<typeof createCertificateRequest>[0]; spec?: object } = {},
) {
  const { name = 'a', about = { subject: { commonName: 'jane' } }, spec = {} } = options
  const { request, key } = createCertificateRequest(about)
  const base64 = Buffer.from(request).toString('base64')
  const draft = { metadata: { name }, spec: { request: base64, signerName: clientSigner, usages: ['client auth'], ...spec } }
  const made = await client.create(requests, draft)
  const status = { conditions: [{ type: 'Approved', status: 'True' }] }
  await client.update(requests, { ...made, status } as Csr, { subresource: 'approval' })
  const fieldSelector = `metadata.name=${name}`
  for await (const { object } of client.watch(requests, { fieldSelector, signal: AbortSignal.timeout(20_000) })) {
    const { certificate, conditions = [] } = object.status ?? {}
    const isOver = certificate !== undefined || conditions.some(({ type }) => type === 'Failed')
    if (isOver) return { key, conditions, certificate: Buffer.from(certificate ?? '', 'base64').toString() }
  }
  throw new Error('the watch has ended')
}

/** The user that the server authenticates by a certificate, or the status of the error. */
async function who({ server, ca = '' }: KubeconfigConnection, pair: { certificate: string; key: string }) {
  const client = createRemoteClient({ server, ca, certificate: pair.certificate, key: pair.key })
  try {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const response = await client.request({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body })
    const answer = (await response.json()) as { status: { userInfo: { username: string } } }
    return response.status === 201 ? answer.status.userInfo.username : response.status
  } finally {
    await client.close()
  }
}

describe('krmkit serve', () => {
  it('generates a signing authority and accepts its certificates after a restart [P134]', async () => {
    const first = await start('--storage=durable')
    const jane = await ask(first.admin)
    expect(await who(first.connection, jane)).toBe('jane')
    const own = await readFile(join(folder, 'data/pki/signing-ca.crt'), 'utf8')
    expect(new X509Certificate(jane.certificate).verify(new X509Certificate(own).publicKey)).toBe(true)
    expect((await stat(join(folder, 'data/pki/signing-ca.key'))).mode & 0o777).toBe(0o600)
    expect(own).not.toBe(await readFile(join(folder, 'data/pki/ca.crt'), 'utf8'))
    for (const close of closing.splice(0).reverse()) await close()
    const second = await start('--storage=durable')
    expect(await who(second.connection, jane)).toBe('jane')
  })

  it('rejects other authorities, its serving authority, a leaf that signs and a self-signed certificate [P134]', async () => {
    const { admin, connection } = await start()
    const jane = await ask(admin)
    const own = await readFile(join(folder, 'data/pki/signing-ca.crt'), 'utf8')
    const { subjectDer } = readCertificates(own)[0]!
    /** Signed by another key, with the name of another or of the right authority, with or without its certificate in the chain. */
    const forge = async (options: { readonly name?: Uint8Array; readonly more?: string }) => {
      const forger = await createSigningAuthority(environment)
      const { request, key } = createCertificateRequest({ subject: { commonName: 'root', organizations: ['system:masters'] } })
      const info = { ...forger.info, subjectDer: options.name ?? forger.info.subjectDer }
      const toSign = { request: readCertificateRequest(request), usages: ['client auth'] }
      const certificate = signRequest(toSign, { ...environment, authority: { ...forger, info } })
      return { certificate: certificate + (options.more ?? ''), key }
    }
    expect(await who(connection, await forge({}))).toBe(401)
    expect(await who(connection, await forge({ name: subjectDer }))).toBe(401)
    expect(await who(connection, await forge({ name: subjectDer, more: own }))).toBe(401)
    // Jane's certificate is not an authority, although her key can sign.
    const leaf = { ...(await createSigningAuthority(environment)), facts: readCertificates(jane.certificate)[0]! }
    const { request, key } = createCertificateRequest({ subject: { commonName: 'root', organizations: ['system:masters'] } })
    const toSign = { request: readCertificateRequest(request), usages: ['client auth'] }
    const below = signRequest(toSign, { ...environment, authority: { ...leaf, key: createPrivateKey(jane.key) } })
    expect(await who(connection, { certificate: below + jane.certificate, key })).toBe(401)
    // A serving certificate does not authenticate a client.
    const node = { commonName: 'system:node:a', organizations: ['system:nodes'] }
    const spec = { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] }
    const ofNode = await ask(admin, { name: 'serving', about: { subject: node, names: { dns: ['a'] } }, spec })
    expect(await who(connection, ofNode)).toBe(401)
    const serving = await readFile(join(folder, 'data/pki/apiserver.crt'), 'utf8')
    const servingKey = await readFile(join(folder, 'data/pki/apiserver.key'), 'utf8')
    expect(await who(connection, { certificate: serving, key: servingKey })).toBe(401)
    expect(await who(connection, jane)).toBe('jane')
  })

  it('accepts --client-ca-file in addition [P134]', async () => {
    const other = await authority('other')
    const { admin, connection } = await start(`--client-ca-file=${other.files.certificate}`)
    const request = createCertificateRequest({ subject: { commonName: 'carl' } })
    const toSign = { request: readCertificateRequest(request.request), usages: ['client auth'] }
    const carl = { certificate: signRequest(toSign, { ...environment, authority: other }), key: request.key }
    expect(await who(connection, carl)).toBe('carl')
    expect(await who(connection, await ask(admin))).toBe('jane')
  })

  it('signs for all signers with --cluster-signing-cert-file, limited by --cluster-signing-duration [P110]', async () => {
    const ca = await authority('ca')
    const files = [`--cluster-signing-cert-file=${ca.files.certificate}`, `--cluster-signing-key-file=${ca.files.key}`]
    const { admin, connection } = await start(
      ...files,
      `--client-ca-file=${ca.files.certificate}`,
      '--cluster-signing-duration=2h',
    )
    const jane = await ask(admin)
    const certificate = new X509Certificate(jane.certificate)
    expect(certificate.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true)
    expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBe(2 * 3_600_000 + 300_000)
    expect(await who(connection, jane)).toBe('jane')
    await expect(stat(join(folder, 'data/pki/signing-ca.crt'))).rejects.toThrow()
  })

  it('uses an authority per signer and reloads its files [P134]', async () => {
    const ca = await authority('client')
    const flag = '--cluster-signing-kube-apiserver-client'
    const { admin } = await start(`${flag}-cert-file=${ca.files.certificate}`, `${flag}-key-file=${ca.files.key}`)
    const issuerOf = ({ certificate }: { certificate: string }, by: { certificate: string }) =>
      new X509Certificate(certificate).verify(new X509Certificate(by.certificate).publicKey)
    expect(issuerOf(await ask(admin), ca)).toBe(true)
    const next = await authority('client')
    expect(issuerOf(await ask(admin, { name: 'b' }), next)).toBe(true)
  })

  it('adds the reason to the request and to the log [P111]', async () => {
    const { admin } = await start()
    const { conditions } = await ask(admin, { spec: { usages: ['client auth', 'server auth'] } })
    const message = 'invalid usage for client certificate: server auth'
    expect(conditions[1]).toMatchObject({ type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message })
    expect(logged).toContain(`certificate request "a" was not signed by ${clientSigner}: ${message}`)
  })

  it('signs requests of nodes without key encipherment, except with --require-key-encipherment [P101]', async () => {
    const about = { subject: { organizations: ['system:nodes'], commonName: 'system:node:a' } }
    const signerName = 'kubernetes.io/kube-apiserver-client-kubelet'
    const usages = ['digital signature', 'client auth']
    const flags = ['--controllers=*,-csrapproving']
    const usual = await start(...flags)
    expect((await ask(usual.admin, { about, spec: { signerName, usages } })).certificate).toContain('BEGIN CERTIFICATE')
    const strict = await start(...flags, '--require-key-encipherment', `--write-kubeconfig=${folder}/strict.kubeconfig`)
    const { conditions } = await ask(strict.admin, { about, spec: { signerName, usages } })
    expect(conditions[1]).toMatchObject({ message: 'usages did not match [client auth digital signature key encipherment]' })
    const complete = await ask(strict.admin, { name: 'b', about, spec: { signerName, usages: [...usages, 'key encipherment'] } })
    expect(complete.certificate).toContain('BEGIN CERTIFICATE')
  })

  it('neither signs nor generates an authority when the controller is disabled', async () => {
    await start('--controllers=*,-csrsigning')
    await expect(stat(join(folder, 'data/pki/signing-ca.crt'))).rejects.toThrow()
  })

  it('rejects contradictory flags, and files without an authority', async () => {
    const ca = await authority('ca')
    const other = await authority('other')
    const one = `--cluster-signing-cert-file=${ca.files.certificate}`
    await expect(start(one)).rejects.toThrow('--cluster-signing-cert-file and --cluster-signing-key-file go together')
    const serving = '--cluster-signing-kubelet-serving'
    await expect(start(`${serving}-key-file=x`)).rejects.toThrow('go together')
    const two = [`${serving}-cert-file=${ca.files.certificate}`, `${serving}-key-file=${ca.files.key}`]
    await expect(start(one, `--cluster-signing-key-file=${ca.files.key}`, ...two)).rejects.toThrow('cannot both be given')
    await expect(start(one, `--cluster-signing-key-file=${other.files.key}`)).rejects.toThrow(
      'the key does not match the certificate',
    )
    await expect(start(one, '--cluster-signing-key-file=none')).rejects.toThrow('cannot read none')
    const text = await file('text', 'no PEM')
    await expect(start(`--cluster-signing-cert-file=${text}`, `--cluster-signing-key-file=${ca.files.key}`)).rejects.toThrow(
      'no PEM certificate',
    )
    expect(ca.files.certificate).toContain(folder)
  })
})
