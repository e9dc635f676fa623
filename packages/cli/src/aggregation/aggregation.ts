import type { ServiceResolver } from '@krmkit/admission/webhooks'
import type { EmbeddedServer } from '@krmkit/apiserver'
import { type Aggregation, endpointServices } from '@krmkit/apiserver/aggregation'
import type { Clock, Random } from '@krmkit/meta'
import { watchKeyPair } from '../watched-key-pair.ts'
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
  const { proxyClientCertFile, proxyClientKeyFile } = options
  const identity = await watchKeyPair(
    {
      certificate: { flag: 'proxy-client-cert-file', path: proxyClientCertFile },
      key: { flag: 'proxy-client-key-file', path: proxyClientKeyFile },
    },
    context,
  )
  return {
    routing: options.enableAggregatorRouting ? 'endpoints' : 'clusterIP',
    forwardRedirects: !options.aggregatorRejectForwardingRedirect,
    ...(identity === undefined ? {} : { identity: identity.now }),
    [Symbol.dispose]: () => identity?.[Symbol.dispose](),
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
