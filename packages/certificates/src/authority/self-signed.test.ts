import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { issueAuthority, issueServing } from './self-signed.ts'

const options = {
  notBefore: Date.parse('2031-05-04T03:02:01Z'),
  notAfter: Date.parse('2032-05-04T03:02:01Z'),
  serial: new Uint8Array(8).fill(7),
}

describe('issueServing', () => {
  it('names the subject of the authority as issuer, with any characters', async () => {
    for (const commonName of ['krmkit', 'a, b=c + "d" \\', 'Жанна 🙂', '#0500']) {
      const authority = await issueAuthority({ ...options, commonName })
      const { certificate } = await issueServing(authority, { ...options, commonName: 'api', hosts: ['localhost'] })
      const [issued, issuer] = [new X509Certificate(certificate), new X509Certificate(authority.certificate)]
      expect(issued.issuer, commonName).toBe(issuer.subject)
      expect(issued.checkIssued(issuer) && issued.verify(issuer.publicKey), commonName).toBe(true)
    }
  })

  // `X509Certificate#toLegacyObject` before the first import of node:tls breaks that module in Node 20.
  it('does not break node:tls when imported afterwards', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'krmkit-self-signed-'))
    try {
      const input = fileURLToPath(new URL('./self-signed.ts', import.meta.url))
      const built = await rolldown({
        input,
        platform: 'node',
        logLevel: 'silent',
        resolve: { conditionNames: ['source', 'node', 'import'] },
      })
      await built.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' })
      await built.close()
      const script = `
        const { issueAuthority, issueServing } = await import(${JSON.stringify(pathToFileURL(join(folder, 'self-signed.mjs')).href)})
        const options = { commonName: 'a', notBefore: 0, notAfter: 1e12, serial: new Uint8Array(8).fill(7) }
        await issueServing(await issueAuthority(options), { ...options, hosts: ['localhost'] })
        console.log(typeof (await import('node:tls')).default.createSecureContext)`
      const args = ['--input-type=module', '-e', script]
      expect(execFileSync(process.execPath, args, { cwd: '/', encoding: 'utf8' })).toBe('function\n')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
