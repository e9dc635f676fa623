import { type Random, randomText } from '@krmkit/meta'
import { CertificateError } from '../certificate-error.ts'

/** A token with which a node or user joins the cluster, written `id.secret`. */
export interface BootstrapToken {
  /** 6 characters of `[a-z0-9]`; public. */
  readonly id: string
  /** 16 characters of `[a-z0-9]`. */
  readonly secret: string
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const idLength = 6
const secretLength = 16
const idForm = /^[a-z0-9]{6}$/
const secretForm = /^[a-z0-9]{16}$/

/**
 * Parses `id.secret`.
 *
 * @throws CertificateError `InvalidToken`; the message does not contain the text.
 * @see API protocol specification, 2.11
 * @example
 * ```ts
 * import { parseBootstrapToken } from '@krmkit/certificates/bootstrap'
 *
 * parseBootstrapToken('abcdef.0123456789abcdef') // { id: 'abcdef', secret: '0123456789abcdef' }
 * ```
 */
export function parseBootstrapToken(text: string): BootstrapToken {
  const [id = '', secret = '', ...rest] = text.length === idLength + 1 + secretLength ? text.split('.') : []
  if (rest.length === 0 && isBootstrapTokenId(id) && secretForm.test(secret)) return { id, secret }
  const message = 'a bootstrap token has 6 characters, a dot and 16 characters, all of a-z and 0-9'
  throw new CertificateError({ code: 'InvalidToken', message })
}

/**
 * Whether a text has the form of a token id.
 *
 * @example
 * ```ts
 * import { isBootstrapTokenId } from '@krmkit/certificates/bootstrap'
 *
 * isBootstrapTokenId('abcdef') // true
 * isBootstrapTokenId('ABC') // false
 * ```
 */
export function isBootstrapTokenId(text: string): boolean {
  return idForm.test(text)
}

/**
 * Formats a token as `id.secret`.
 *
 * @example
 * ```ts
 * import { formatBootstrapToken } from '@krmkit/certificates/bootstrap'
 *
 * formatBootstrapToken({ id: 'abcdef', secret: '0123456789abcdef' }) // 'abcdef.0123456789abcdef'
 * ```
 */
export function formatBootstrapToken({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`
}

/**
 * Generates a uniformly distributed token.
 *
 * @example
 * ```ts
 * import { formatBootstrapToken, generateBootstrapToken } from '@krmkit/certificates/bootstrap'
 * import { systemRandom } from '@krmkit/meta'
 *
 * formatBootstrapToken(generateBootstrapToken(systemRandom)).length // 23
 * ```
 */
export function generateBootstrapToken(random: Pick<Random, 'bytes'>): BootstrapToken {
  return { id: randomText(random, alphabet, idLength), secret: randomText(random, alphabet, secretLength) }
}
