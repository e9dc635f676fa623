import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import type { TlsSelfSigned } from './interfaces.ts'

/**
 * TLS with a certificate that the server makes itself and keeps in `directory`; good for loopback, the names of the
 * service inside a cluster, and `hosts`.
 */
export function selfSigned(directory: string, options: Partial<Omit<TlsSelfSigned, 'directory'>> = {}): TlsSelfSigned {
  return { directory, hosts: [], clock: systemClock, random: systemRandom, profile: stockProfile, ...options }
}
