import type { Random } from '@krmkit/meta'
import { CertificateError } from '../certificate-error.ts'

/** What a node or user joins with: a name that everybody may know, and a secret. Written `id.secret`. */
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
 * Reads `id.secret`.
 *
 * @throws CertificateError `InvalidToken`, which does not repeat the text.
 * @see API protocol specification, 2.11
 */
export function parseBootstrapToken(text: string): BootstrapToken {
  const [id = '', secret = '', ...rest] = text.length === idLength + 1 + secretLength ? text.split('.') : []
  if (rest.length === 0 && isBootstrapTokenId(id) && secretForm.test(secret)) return { id, secret }
  const message = 'a bootstrap token is 6 characters, a point and 16 characters, all of a-z and 0-9'
  throw new CertificateError({ code: 'InvalidToken', message })
}

export function isBootstrapTokenId(text: string): boolean {
  return idForm.test(text)
}

export function formatBootstrapToken({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`
}

/** A new token: every one of them is as likely as any other. */
export function generateBootstrapToken(random: Pick<Random, 'bytes'>): BootstrapToken {
  return { id: draw(random, idLength), secret: draw(random, secretLength) }
}

/** Bytes that would favour some characters are drawn again. */
function draw(random: Pick<Random, 'bytes'>, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random.bytes(length - text.length)) if (byte < limit) text += alphabet[byte % alphabet.length]
  }
  return text
}
