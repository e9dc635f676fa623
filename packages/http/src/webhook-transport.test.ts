import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureServingCertificate, type ServingCertificate } from '@krmkit/certificates'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhookTransport } from './webhook-transport.ts'

/** Tests which certificates are trusted. Failures of webhooks are tested with a whole server. */

let folder: string
let serving: ServingCertificate
let other: ServingCertificate
let server: Server
let origin: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-webhook-'))
  const make = (name: string) =>
    ensureServingCertificate(join(folder, name), { clock: systemClock, random: systemRandom, profile: stockProfile })
  serving = await make('serving')
  other = await make('other')
  server = createServer({ cert: serving.certificate, key: serving.key }, (_, response) => response.end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

/** Returns the first certificate of a chain. */
const leafOf = ({ certificate }: ServingCertificate) =>
  `${certificate.split('-----END CERTIFICATE-----')[0]}-----END CERTIFICATE-----\n`

async function call(ca: string): Promise<number> {
  using transport = createWebhookTransport()
  const send = transport.open({ origin, ca })
  const signal = AbortSignal.timeout(10_000)
  const answer = await send({ method: 'POST', path: '/', headers: {}, body: '{}', signal, limitBytes: 1024 })
  return answer.status
}

describe('webhook certificate', () => {
  it('is trusted by its authority', async () => expect(await call(serving.authority)).toBe(200))

  it('is trusted when the bundle holds the certificate itself, as test harnesses do', async () => {
    expect(await call(leafOf(serving))).toBe(200)
  })

  it('is rejected otherwise', async () => {
    const refused = /failed to verify certificate: x509: certificate signed by unknown authority/
    await expect(call(other.authority)).rejects.toThrow(refused)
    await expect(call(leafOf(other))).rejects.toThrow(refused)
  })
})
