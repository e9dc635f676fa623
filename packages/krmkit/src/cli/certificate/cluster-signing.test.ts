import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificateRequest, createSigningAuthority, signRequest } from '@krmkit/certificates'
import { readCertificateRequest, readCertificates } from '@krmkit/certificates/request'
import { type Client, type KubeconfigConnection, loadKubeconfig, remoteClient, resourceType } from '@krmkit/client'
import { type ApiObject, systemClock, systemRandom } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { createProgram } from '../program.ts'
import { type Serving, serve } from '../serve.ts'
import type { ServeOptions } from '../serve-options.ts'

/** The flags of signing, each against a whole server on a port. */

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

let folder: string
const closing: (() => Promise<unknown>)[] = []
const logged: string[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-signing-'))
  logged.length = 0
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await rm(folder, { recursive: true })
})

async function start(...flags: string[]): Promise<Serving & { admin: Client; connection: KubeconfigConnection }> {
  let options: ServeOptions | undefined
  const take = async (given: ServeOptions) => {
    options = given
  }
  const line = ['node', 'krmkit', 'serve', '--secure-port=0', `--data-dir=${folder}/data`, ...flags]
  await createProgram({ terminal: testTerminal(), serve: take }).parseAsync(line)
  const note = (text: string) => void logged.push(text)
  const serving = await serve(options!, { info: note, error: note })
  closing.push(() => serving.close())
  const connection = await loadKubeconfig({ path: serving.kubeconfig! })
  const admin = remoteClient(connection)
  closing.push(() => admin.close())
  return { ...serving, admin, connection }
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}
/** An authority in two files. */
async function authority(name: string) {
  const made = await createSigningAuthority(environment)
  const certificate = await file(`${name}.crt`, made.certificate)
  const key = await file(`${name}.key`, made.key.export({ format: 'pem', type: 'pkcs8' }) as string)
  return { ...made, files: { certificate, key } }
}

/** Asks, approves, and watches until the request has come to something. */
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

/** Who the server takes the bearer of a certificate for; the status when it does not. */
async function who({ server, ca = '' }: KubeconfigConnection, pair: { certificate: string; key: string }) {
  const client = remoteClient({ server, ca, certificate: pair.certificate, key: pair.key })
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
  it('P134 keeps an authority for itself, whose certificates it believes after a restart too', async () => {
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

  it('P134 believes nobody else: other authorities, its own serving one, a leaf that signs, a self-made certificate', async () => {
    const { admin, connection } = await start()
    const jane = await ask(admin)
    const own = await readFile(join(folder, 'data/pki/signing-ca.crt'), 'utf8')
    const { subjectDer } = readCertificates(own)[0]!
    /** Signed by another key, in the name of another authority or of the right one, with or without its certificate. */
    const forge = async (options: { readonly name?: Uint8Array; readonly more?: string }) => {
      const forger = await createSigningAuthority(environment)
      const { request, key } = createCertificateRequest({ subject: { commonName: 'root', organizations: ['system:masters'] } })
      const info = { ...forger.info, subjectDer: options.name ?? forger.info.subjectDer }
      const asked = { request: readCertificateRequest(request), usages: ['client auth'] }
      const certificate = signRequest(asked, { ...environment, authority: { ...forger, info } })
      return { certificate: certificate + (options.more ?? ''), key }
    }
    expect(await who(connection, await forge({}))).toBe(401)
    expect(await who(connection, await forge({ name: subjectDer }))).toBe(401)
    expect(await who(connection, await forge({ name: subjectDer, more: own }))).toBe(401)
    // Jane's certificate signs for nobody, although her key can.
    const leaf = { ...(await createSigningAuthority(environment)), facts: readCertificates(jane.certificate)[0]! }
    const { request, key } = createCertificateRequest({ subject: { commonName: 'root', organizations: ['system:masters'] } })
    const asked = { request: readCertificateRequest(request), usages: ['client auth'] }
    const below = signRequest(asked, { ...environment, authority: { ...leaf, key: createPrivateKey(jane.key) } })
    expect(await who(connection, { certificate: below + jane.certificate, key })).toBe(401)
    // What is signed for a server is no client.
    const node = { commonName: 'system:node:a', organizations: ['system:nodes'] }
    const spec = { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] }
    const ofNode = await ask(admin, { name: 'serving', about: { subject: node, names: { dns: ['a'] } }, spec })
    expect(await who(connection, ofNode)).toBe(401)
    const serving = await readFile(join(folder, 'data/pki/apiserver.crt'), 'utf8')
    const servingKey = await readFile(join(folder, 'data/pki/apiserver.key'), 'utf8')
    expect(await who(connection, { certificate: serving, key: servingKey })).toBe(401)
    expect(await who(connection, jane)).toBe('jane')
  })

  it('P134 --client-ca-file is believed beside it', async () => {
    const other = await authority('other')
    const { admin, connection } = await start(`--client-ca-file=${other.files.certificate}`)
    const request = createCertificateRequest({ subject: { commonName: 'carl' } })
    const asked = { request: readCertificateRequest(request.request), usages: ['client auth'] }
    const carl = { certificate: signRequest(asked, { ...environment, authority: other }), key: request.key }
    expect(await who(connection, carl)).toBe('carl')
    expect(await who(connection, await ask(admin))).toBe('jane')
  })

  it('P110 --cluster-signing-cert-file signs for all, --cluster-signing-duration says how long', async () => {
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

  it('P134 an authority for each signer; files are read anew', async () => {
    const ca = await authority('client')
    const flag = '--cluster-signing-kube-apiserver-client'
    const { admin } = await start(`${flag}-cert-file=${ca.files.certificate}`, `${flag}-key-file=${ca.files.key}`)
    const issuerOf = ({ certificate }: { certificate: string }, by: { certificate: string }) =>
      new X509Certificate(certificate).verify(new X509Certificate(by.certificate).publicKey)
    expect(issuerOf(await ask(admin), ca)).toBe(true)
    const next = await authority('client')
    expect(issuerOf(await ask(admin, { name: 'b' }), next)).toBe(true)
  })

  it('P111 --report-signing-failures says in the request why it is not signed; the log says so in any case', async () => {
    const { admin } = await start('--report-signing-failures')
    const { conditions } = await ask(admin, { spec: { usages: ['client auth', 'server auth'] } })
    const message = 'invalid usage for client certificate: server auth'
    expect(conditions[1]).toMatchObject({ type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message })
    expect(logged).toContain(`certificate request "a" was not signed by ${clientSigner}: ${message}`)
  })

  it('signs nothing when the controller is off, and makes no authority', async () => {
    await start('--controllers=*,-csrsigning')
    await expect(stat(join(folder, 'data/pki/signing-ca.crt'))).rejects.toThrow()
  })

  it('refuses flags that contradict one another, and files that are no authority', async () => {
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
