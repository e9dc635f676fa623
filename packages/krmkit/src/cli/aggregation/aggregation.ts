import type { ServiceResolver } from '@krmkit/admission/webhooks'
import type { EmbeddedServer } from '@krmkit/apiserver'
import { type Aggregation, endpointServices, type ProxyIdentity } from '@krmkit/apiserver/aggregation'
import type { Clock, Random } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { readKeyPair } from '../key-pair.ts'
import { watchFile } from '../watched-file.ts'
import type { AggregationOptions } from './options.ts'

export type AggregationFromFlags = Pick<Aggregation, 'forwardRedirects' | 'identity' | 'routing'> & Disposable

/**
 * Creates the aggregation options that the flags configure. Certificate and key are reloaded when their files change.
 *
 * @throws CliError for a certificate without a key, a key without a certificate, or a file that cannot be read.
 */
export async function createAggregation(
  options: AggregationOptions,
  context: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<AggregationFromFlags> {
  const identity = await proxyIdentity(options, context)
  return {
    routing: options.enableAggregatorRouting ? 'endpoints' : 'clusterIP',
    forwardRedirects: !options.aggregatorRejectForwardingRedirect,
    ...(identity === undefined ? {} : { identity: identity.now }),
    [Symbol.dispose]: () => identity?.end(),
  }
}

async function proxyIdentity(
  { proxyClientCertFile: certificateFile, proxyClientKeyFile: keyFile }: AggregationOptions,
  context: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<{ readonly now: () => ProxyIdentity; readonly end: () => void } | undefined> {
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw new CliError({ code: 'InvalidFlag', message: '--proxy-client-cert-file and --proxy-client-key-file go together' })
  }
  if (certificateFile === undefined || keyFile === undefined) return undefined
  await readKeyPair({
    certificate: { flag: 'proxy-client-cert-file', path: certificateFile },
    key: { flag: 'proxy-client-key-file', path: keyFile },
  })
  const certificate = await watchFile(certificateFile, context)
  const key = await watchFile(keyFile, context)
  return {
    now: () => ({ certificate: certificate.text, key: key.text }),
    end() {
      certificate[Symbol.dispose]()
      key[Symbol.dispose]()
    },
  }
}

/**
 * Resolves the services of webhooks to endpoint addresses when `--enable-aggregator-routing` is set; otherwise webhooks use the cluster
 * IP. `attach` connects the server whose endpoints are read.
 */
export class WebhookServices {
  readonly reach: { readonly resolveService?: ServiceResolver }
  #find: ServiceResolver | undefined

  constructor({ enableAggregatorRouting }: Pick<AggregationOptions, 'enableAggregatorRouting'>) {
    this.reach = enableAggregatorRouting ? { resolveService: (service) => this.#resolve(service) } : {}
  }

  attach(server: EmbeddedServer, random: Pick<Random, 'bytes'>): void {
    this.#find = endpointServices(server.registry.reader, random)
  }

  #resolve(service: Parameters<ServiceResolver>[0]): ReturnType<ServiceResolver> {
    if (this.#find === undefined) throw new Error('the server is starting')
    return this.#find(service)
  }
}
