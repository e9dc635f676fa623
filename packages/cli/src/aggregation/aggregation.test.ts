import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmbeddedServer } from '@krmkit/apiserver'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { Command } from '../commander.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { createAggregation, WebhookServices } from './aggregation.ts'
import { addAggregationFlags } from './flags.ts'
import type { AggregationOptions } from './options.ts'

const folder = temporaryFolder({ perTest: true })

const optionsOf = (...flags: string[]) =>
  addAggregationFlags(new Command())
    .exitOverride()
    .parse(['node', 'krmkit', ...flags])
    .opts<AggregationOptions>()
const clock = fakeClock(0)
const context = { clock, onError: () => undefined }

describe('aggregation flags', () => {
  it('default to cluster IPs, rejected redirects and no client certificate', async () => {
    using found = await createAggregation(optionsOf(), context)
    expect(found).toMatchObject({ routing: 'clusterIP', forwardRedirects: false })
    expect(found.identity).toBeUndefined()
  })

  it('set the routing and the redirects', async () => {
    using found = await createAggregation(
      optionsOf('--enable-aggregator-routing', '--aggregator-reject-forwarding-redirect=false'),
      context,
    )
    expect(found).toMatchObject({ routing: 'endpoints', forwardRedirects: true })
  })

  it('reload the certificate when its file changes', async () => {
    const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const authority = createCertificateAuthority({ name: 'proxies', clock, random: seededRandom(1) })
    const first = authority.issue({ commonName: 'proxy' })
    const second = authority.issue({ commonName: 'proxy' })
    await writeFile(certificate, first.certificate)
    await writeFile(key, first.key)
    const flags = [`--proxy-client-cert-file=${certificate}`, `--proxy-client-key-file=${key}`]
    using found = await createAggregation(optionsOf(...flags), context)
    expect(found.identity?.()).toEqual({ certificate: first.certificate, key: first.key })
    await writeFile(certificate, second.certificate)
    clock.advance(10_000)
    while (found.identity?.()?.certificate !== second.certificate) await new Promise((resolve) => setImmediate(resolve))
  })

  it('require certificate and key together, and existing files', async () => {
    await expect(createAggregation(optionsOf('--proxy-client-cert-file=a'), context)).rejects.toThrow('go together')
    const flags = ['--proxy-client-cert-file=/nowhere/a', '--proxy-client-key-file=/nowhere/b']
    await expect(createAggregation(optionsOf(...flags), context)).rejects.toThrow('proxy-client-cert-file')
  })

  it('route webhooks like aggregated API servers', () => {
    expect(new WebhookServices(optionsOf()).reach).toEqual({})
    const services = new WebhookServices(optionsOf('--enable-aggregator-routing'))
    const { resolveService } = services.reach
    const hook = { namespace: 'a', name: 'hook', port: 443 }
    expect(() => resolveService?.(hook)).toThrow('starting')
    const objects: Record<string, object> = {
      services: { spec: { ports: [{ port: 443 }] } },
      endpoints: { subsets: [{ addresses: [{ ip: '10.0.0.5' }], ports: [{ port: 8443 }] }] },
    }
    const reader = { get: ({ resource }: { readonly resource: string }) => objects[resource] }
    services.attach({ registry: { reader } } as unknown as EmbeddedServer, { bytes: () => new Uint8Array(3) })
    expect(resolveService?.(hook)).toEqual({ host: '10.0.0.5', port: 8443 })
  })
})
