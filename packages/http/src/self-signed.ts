import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import type { TlsSelfSigned } from './interfaces.ts'

/**
 * TLS with a certificate that the server issues itself and stores in `directory`. It is valid for loopback addresses, the names of the
 * service inside a cluster, and `hosts`.
 *
 * @see {@link listen}
 */
export function selfSigned(directory: string, options: Partial<Omit<TlsSelfSigned, 'directory'>> = {}): TlsSelfSigned {
  return { directory, hosts: [], clock: systemClock, random: systemRandom, profile: stockProfile, ...options }
}
