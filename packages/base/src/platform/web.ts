/** `@krmkit/base/platform` for browsers and edge runtimes: the exports of `node.ts`, documented there. */

import { hmac } from '@noble/hashes/hmac'
import { sha1 } from '@noble/hashes/legacy'
import { sha256, sha512 } from '@noble/hashes/sha2'
import { latin1Text, utf8Bytes } from '../bytes.ts'
import type { DigestAlgorithm, ProcessUsage, RuntimeFacts } from './node.ts'

export type { DigestAlgorithm, ProcessUsage, RuntimeFacts } from './node.ts'

const hashes = { sha1, sha256, sha512 }

/** @see `digest` of `node.ts`; Web Crypto has no synchronous digest. */
export function digest(algorithm: DigestAlgorithm, parts: Iterable<string | Uint8Array>): Uint8Array {
  const hash = hashes[algorithm].create()
  for (const part of parts) hash.update(typeof part === 'string' ? utf8Bytes(part) : part)
  return hash.digest()
}

export function hmacSha256(key: Uint8Array): (text: string) => string {
  const bytes = key.map((byte) => byte & 0x7f)
  return (text) => latin1Text(hmac(sha256, bytes, utf8Bytes(text)))
}

export function equalSecrets(one: string, other: string): boolean {
  const [a, b] = [utf8Bytes(one), utf8Bytes(other)]
  if (a.length !== b.length) return false
  let difference = 0
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0)
  return difference === 0
}

/** Browsers do not warn. */
export function allowManyListeners(_signal: AbortSignal): void {}

export function runtimeFacts(): RuntimeFacts {
  return { name: 'web', version: '', os: 'web', architecture: 'wasm' }
}

export function processUsage(): ProcessUsage | undefined {
  return undefined
}
