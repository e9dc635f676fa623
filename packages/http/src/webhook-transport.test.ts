import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureServingCertificate, type ServingCertificate } from '@krmkit/certificates'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhookTransport } from './webhook-transport.ts'

/** Tests which certificates are trusted. Failures of webhooks are tested with a complete server. */

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

describe('the host of a webhook', () => {
  it.each(['0177.0.0.1', '127.000.000.001', '127.1', '2130706433', '0x7f.1', '127.0.0.1.'])(
    'is not found when it is written %s',
    async (host) => {
      using transport = createWebhookTransport()
      const port = Number(new URL(origin).port)
      const request = {
        method: 'POST',
        path: '/',
        headers: {},
        body: '{}',
        signal: AbortSignal.timeout(10_000),
        limitBytes: 1024,
      } as const
      const failure = `dial tcp: lookup ${host}: no such host`
      const byUrl = transport.open({ origin: `https://${host}:${port}`, ca: serving.authority })
      await expect(byUrl(request)).rejects.toThrow(failure)
      const resolve = async () => ({ host, port })
      const byService = transport.open({
        origin: 'https://hook.shop.svc',
        serverName: '127.0.0.1',
        ca: serving.authority,
        resolve,
      })
      await expect(byService(request)).rejects.toThrow(failure)
    },
  )
})

describe('webhook certificate', () => {
  it('is trusted by its authority', async () => expect(await call(serving.authority)).toBe(200))

  it('is trusted when the bundle contains the certificate itself, as in test harnesses', async () => {
    expect(await call(leafOf(serving))).toBe(200)
  })

  it('is rejected otherwise', async () => {
    const refused = /failed to verify certificate: x509: certificate signed by unknown authority/
    await expect(call(other.authority)).rejects.toThrow(refused)
    await expect(call(leafOf(other))).rejects.toThrow(refused)
  })
})
