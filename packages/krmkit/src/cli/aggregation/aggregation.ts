import type { Aggregation, ProxyIdentity } from '@krmkit/apiserver'
import type { Clock } from '@krmkit/meta'
import { watchFile } from '../authentication/watched-file.ts'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import type { AggregationOptions } from './options.ts'

export type AggregationFromFlags = Pick<Aggregation, 'forwardRedirects' | 'identity' | 'routing'> & Disposable

/**
 * How other servers are reached, as the flags say. Certificate and key are read again when their files change.
 *
 * @throws CliError for one file without the other, or one that cannot be read.
 */
export async function aggregationOf(
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
  await readText(certificateFile, 'proxy-client-cert-file')
  await readText(keyFile, 'proxy-client-key-file')
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
