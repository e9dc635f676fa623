import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateRequest, createSigningAuthority } from '@krmkit/certificates'
import { systemRandom } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { createProgram } from '../program.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const start = Date.parse('2031-05-04T03:02:01Z')
const nodeSubject = { commonName: 'system:node:a', organizations: ['system:nodes'] }
const folder = temporaryFolder()
beforeAll(async () => {
  const authority = await createSigningAuthority({ clock: { now: () => start }, random: systemRandom })
  await file('ca.crt', authority.certificate)
  await file('ca.key', authority.key.export({ format: 'pem', type: 'pkcs8' }) as string)
})

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}

async function run(args: readonly string[], stdin = '') {
  const terminal = testTerminal({ stdin: () => stdin, now: () => start })
  const program = createProgram({ serve: () => Promise.resolve(), terminal })
  await program.parseAsync(['certificate', ...args], { from: 'user' }).catch(() => undefined)
  return terminal.printed
}

function object(name: string, pem: string, spec: object = {}): string {
  const request = Buffer.from(pem).toString('base64')
  return JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], ...spec },
  })
}
const authority = () => ['--ca-cert-file', join(folder, 'ca.crt'), '--ca-key-file', join(folder, 'ca.key')]

describe('krmkit certificate inspect', () => {
  it('prints the contents of a request and the verdict of each built-in signer [P96] [P97] [P100]', async () => {
    const { request } = createCertificateRequest({
      subject: { commonName: 'jane', organizations: ['dev'] },
      names: { ips: ['::1'] },
    })
    const { out, code } = await run(['inspect', '-'], request)
    expect(out).toBe(`- [request]
  subject        O=dev,CN=jane
  names          IP:::1
  key            ECDSA, P-256
  signature      good
  kubernetes.io/kube-apiserver-client: would sign; needs manual approval
  kubernetes.io/kube-apiserver-client-kubelet: refuses: subject organization is not system:nodes
  kubernetes.io/kubelet-serving: refuses: subject organization is not system:nodes
  kubernetes.io/legacy-unknown: refuses: the API rejects new requests for it
`)
    expect(code).toBe(0)
  })

  it('uses signer, usages and requester of the object [P99] [P101]', async () => {
    const pem = createCertificateRequest({ subject: nodeSubject }).request
    const spec = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] }
    const good = await file('good.json', object('good', pem, { ...spec, username: 'system:node:a', expirationSeconds: 900 }))
    const bad = await file('bad.yaml', object('bad', pem, { ...spec, usages: ['client auth'] }))
    const fine = await run(['inspect', good])
    expect(fine.out).toContain('would sign; approved automatically for users who may create selfnodeclient or nodeclient')
    expect(fine.out).toMatch(/validity +900 s\n +requester +system:node:a/)
    expect(fine.code).toBe(0)
    const wrong = await run(['inspect', bad])
    expect(wrong.out).toContain('refuses: usages did not match')
    expect(wrong.code).toBe(1)
    expect((await run(['inspect', good, bad])).code).toBe(1)
  })

  it('reports that the rules of other signers are unknown [P112]', async () => {
    const pem = createCertificateRequest({ subject: {} }).request
    expect((await run(['inspect', '-', '--signer', 'example.com/x'], pem)).out).toContain(
      'example.com/x: would sign; its approval rules are unknown',
    )
  })

  it('reports unreadable inputs and continues [P85]', async () => {
    const pem = createCertificateRequest({ subject: nodeSubject }).request
    const list = `[${object('damaged', 'no PEM')},${object('good', pem)}]`
    const { out, code } = await run(['inspect', '-', '-o', 'json'], `{"kind":"List","apiVersion":"v1","items":${list}}`)
    expect(JSON.parse(out)).toMatchObject([
      { where: '-: damaged', kind: 'unreadable', fine: false, fault: 'PEM block type must be CERTIFICATE REQUEST' },
      { where: '-: good', kind: 'request', fine: true, signers: [{ signer: 'kubernetes.io/kube-apiserver-client' }] },
    ])
    expect(code).toBe(1)
    expect((await run(['inspect', '-'], 'a: 1')).out).toContain('holds no request and no certificate')
    expect(await run(['inspect', join(folder, 'none')])).toMatchObject({ code: 2, err: expect.stringContaining('none') })
  })

  it('prints certificates, without control characters', async () => {
    const ca = await run(['inspect', join(folder, 'ca.crt')])
    expect(ca.out).toMatch(/subject +CN=krmkit-signing-ca@\d+\n +issuer +CN=krmkit-signing-ca/)
    expect(ca.out).toMatch(/valid +2031-05-04T02:02:01Z to 2041-/)
    const { request } = createCertificateRequest({ subject: { commonName: 'a\u001b[31m\u0000' }, names: { dns: ['\u001b[0m'] } })
    const { out } = await run(['inspect', '-'], request)
    expect(out).toContain('CN=a\\1b[31m\\00')
    expect(out).not.toContain('\u001b')
  })
})

describe('krmkit certificate sign', () => {
  it('signs by the rules of the signer [P110] [P134]', async () => {
    const { request, key } = createCertificateRequest({ subject: { commonName: 'jane' } })
    const path = await file('jane.json', object('jane', request, { expirationSeconds: 3600 }))
    const { out, code } = await run(['sign', path, ...authority()])
    const certificate = new X509Certificate(out)
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true)
    expect(Date.parse(certificate.validTo)).toBe(start + 3_600_000)
    expect(code).toBe(0)
    const filled = await run(['sign', path, ...authority(), '-o', 'yaml', '--duration', '30m'])
    const { metadata, status } = parseYaml(filled.out).value as { metadata: object; status: { certificate: string } }
    expect(metadata).toEqual({ name: 'jane' })
    expect(Date.parse(new X509Certificate(Buffer.from(status.certificate, 'base64')).validTo)).toBe(start + 1_800_000)
  })

  it('refuses what the signer refuses, and signs the rest [P97]', async () => {
    const pem = createCertificateRequest({ subject: { commonName: 'jane' } }).request
    const bad = await file('bad.json', object('bad', pem, { usages: ['server auth'] }))
    const good = await file('good.csr', pem)
    const { out, err, code } = await run(['sign', bad, good, ...authority()])
    expect(err).toContain('bad: not signed: kubernetes.io/kube-apiserver-client refuses: invalid usage')
    expect(out.match(/BEGIN/g)).toHaveLength(1)
    expect(code).toBe(1)
  })

  it('requires an authority that can sign', async () => {
    const other = await file('other.key', createCertificateRequest({ subject: {} }).key)
    const { err, code } = await run(['sign', '-', '--ca-cert-file', join(folder, 'ca.crt'), '--ca-key-file', other], '')
    expect(err).toContain('the key does not match the certificate')
    expect(code).toBe(2)
  })
})

describe('krmkit certificate request', () => {
  it('generates a key with mode 0600, reuses it, and prints the request', async () => {
    const key = join(folder, 'node.key')
    const flags = ['request', '--common-name', 'system:node:a', '--organization', 'system:nodes', '--key-file', key]
    const first = await run([...flags, '--dns', 'a,b', '--ip', '10.0.0.1,::ffff:1.2.3.4'])
    expect((await stat(key)).mode & 0o777).toBe(0o600)
    const kept = await readFile(key, 'utf8')
    expect((await run(['inspect', '-'], first.out)).out).toContain('names          DNS:a, DNS:b, IP:10.0.0.1, IP:1.2.3.4')
    const signer = 'kubernetes.io/kube-apiserver-client-kubelet'
    const second = await run([...flags, '-o', 'yaml', '--signer', signer, '--expiration-seconds', '900'])
    expect(await readFile(key, 'utf8')).toBe(kept)
    expect(parseYaml(second.out).value).toMatchObject({
      metadata: { name: 'system-node-a' },
      spec: { signerName: signer, usages: ['digital signature', 'client auth'], expirationSeconds: 900 },
    })
    expect((await run(['inspect', '-'], second.out)).code).toBe(0)
    expect(await run([...flags, '--ip', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('is not an IP address') })
  })
})
