import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultServingHosts, ensureServingCertificate } from './serving-certificate.ts'

const start = Date.parse('2031-05-04T03:02:01Z')
const profile = { vendor: 'kubernetes' }
const dayMs = 86_400_000
let counter = 1
const random = { bytes: (size: number) => new Uint8Array(size).map(() => counter++ % 251) }
const at = (time: number, hosts: string[] = []) => ({ clock: { now: () => time }, random, hosts, profile })

let directory: string
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'krmkit-certificates-')), 'pki')
})
afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }))

describe('ensureServingCertificate', () => {
  it('creates an authority and a certificate for every host', async () => {
    const made = await ensureServingCertificate(directory, at(start, ['api.example.com', '10.0.0.1', 'fd00::7']))
    expect(made.renewed).toBe(true)
    const certificate = new X509Certificate(made.certificate)
    const authority = new X509Certificate(made.authority)
    expect(authority.ca).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true)
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    for (const host of [...defaultServingHosts(profile), 'api.example.com']) {
      if (!/^[\d.]+$|:/.test(host)) expect(certificate.checkHost(host, { subject: 'never' }), host).toBe(host)
    }
    for (const ip of ['127.0.0.1', '::1', '10.0.0.1', 'fd00::7']) expect(certificate.checkIP(ip), ip).toBe(ip)
    expect(certificate.checkHost('example.org')).toBeUndefined()
    expect(Date.parse(certificate.validTo)).toBe(start + 365 * dayMs)
  })

  it('stores keys that only their owner can read', async () => {
    await ensureServingCertificate(directory, at(start))
    const modes = await Promise.all(
      ['apiserver.key', 'ca.key'].map(async (name) => (await stat(join(directory, name))).mode & 0o777),
    )
    expect(modes).toEqual([0o600, 0o600])
  })

  it('reuses the stored certificate', async () => {
    const made = await ensureServingCertificate(directory, at(start))
    expect(await ensureServingCertificate(directory, at(start + 300 * dayMs))).toEqual({ ...made, renewed: false })
  })

  it('keeps the authority when hosts are added or the certificate expires', async () => {
    const first = await ensureServingCertificate(directory, at(start))
    const named = await ensureServingCertificate(directory, at(start, ['other.example.com']))
    expect(named).toMatchObject({ renewed: true, authority: first.authority })
    const later = await ensureServingCertificate(directory, at(start + 340 * dayMs))
    expect(later).toMatchObject({ renewed: true, authority: first.authority })
    expect(Date.parse(new X509Certificate(later.certificate).validTo)).toBe(start + 705 * dayMs)
  })

  it('replaces everything when the authority expires, or files are damaged or do not match', async () => {
    const first = await ensureServingCertificate(directory, at(start))
    expect((await ensureServingCertificate(directory, at(start + 3640 * dayMs))).authority).not.toBe(first.authority)
    await writeFile(join(directory, 'apiserver.crt'), 'damaged')
    expect((await ensureServingCertificate(directory, at(start + 3640 * dayMs))).renewed).toBe(true)
    await writeFile(join(directory, 'apiserver.key'), await readFile(join(directory, 'ca.key')))
    expect((await ensureServingCertificate(directory, at(start + 3640 * dayMs))).renewed).toBe(true)
  })

  it('rejects a malformed authority instead of replacing it', async () => {
    await ensureServingCertificate(directory, at(start))
    for (const name of ['ca.crt', 'ca.key']) {
      const text = await readFile(join(directory, name), 'utf8')
      await writeFile(join(directory, name), text.slice(0, 40))
      await expect(ensureServingCertificate(directory, at(start))).rejects.toMatchObject({ code: 'StorageFailed' })
      await writeFile(join(directory, name), text)
    }
    expect((await ensureServingCertificate(directory, at(start))).renewed).toBe(false)
  })

  it('rejects invalid hosts and unwritable directories', async () => {
    for (const host of ['', 'a b', 'x\n', 'a,DNS:b', '-a.b', 'a'.repeat(300)]) {
      await expect(ensureServingCertificate(directory, at(start, [host]))).rejects.toMatchObject({ code: 'InvalidHost' })
    }
    await writeFile(join(directory, '..', 'file'), '')
    await expect(ensureServingCertificate(join(directory, '..', 'file'), at(start))).rejects.toMatchObject({
      code: 'StorageFailed',
    })
  })

  it('is accepted by a TLS client that trusts the authority', async () => {
    const made = await ensureServingCertificate(directory, at(Date.now()))
    const server = createServer({ key: made.key, cert: made.certificate }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', ca: made.authority, servername: 'kubernetes.default.svc' })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    expect(socket.authorized).toBe(true)
    socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
})
