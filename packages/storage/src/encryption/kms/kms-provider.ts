/**
 * Encrypts values with data keys that a KMS plugin encrypts. The state of writing, as on kube-apiserver:
 *
 *     no seed --Status ok, Encrypt--> writing with a seed of key A
 *     writing --Status names key A, every minute--> writing, for 3 more minutes
 *     writing --Status names key B, Encrypt--> writing with a new seed of key B
 *     writing --no healthy Status for 3 minutes--> writes are refused; values are still read
 */
import { randomBytes } from 'node:crypto'
import { deadlineExceeded, RpcError, unavailableStatus, unknownStatus } from '@krmkit/grpc'
import type { Clock } from '@krmkit/meta'
import type { Cipher } from '../ciphers.ts'
import { cipherOf, keyIdProblem, seedBytes, seededCipher, sourceDigest, sourceProblem } from './data-key.ts'
import type { KmsService } from './kms-client.ts'
import { type DataKeySource, type EncryptedObject, encryptedObject, type KmsStatus, seedSource } from './messages.ts'

/** Intervals of kube-apiserver, in milliseconds. */
const healthyEveryMs = 60_000
const unhealthyEveryMs = 10_000
const seedLastsMs = 180_000
/** How long the result of a health check is reused, in milliseconds. */
const healthyForMs = 20_000
const unhealthyForMs = 3000
/** How long to retry a data key that the plugin fails to decrypt with an ambiguous status, in milliseconds. */
const ambiguousFailureMs = 30_000
/** Maximum number of decrypted data keys in memory. */
const maxKeys = 10_000

export interface KmsProviderOptions {
  /** Name in the configuration, which is part of the prefix of stored values. */
  readonly name: string
  readonly service: KmsService
  readonly clock: Clock
  /** Called for failed checks. */
  readonly onError: (error: unknown) => void
  /** Called before the encryption key for new values changes. */
  readonly onRotate: () => void
}

interface Seed {
  readonly source: DataKeySource
  readonly cipher: Cipher
  /** Time at which writes are refused, unless the plugin was found healthy before. */
  expiresMs: number
}

type DataKey = { readonly cipher: Pick<Cipher, 'decrypt'> } | { readonly problem: string }

export class KmsProvider {
  /** Prefix of the values that this plugin encrypts. */
  readonly prefix: Buffer
  /** For messages. */
  readonly name: string
  readonly #options: KmsProviderOptions
  /** By the digest of their sources, oldest first. */
  readonly #keys = new Map<string, DataKey>()
  readonly #fetching = new Map<string, Promise<void>>()
  /** When the plugin first failed to decrypt a data key, by the digest of the source. */
  readonly #failingSinceMs = new Map<string, number>()
  #seed: Seed | undefined
  #version: string | undefined
  #checked: { readonly atMs: number; readonly problem: Error | undefined } | undefined
  #checking: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  constructor(options: KmsProviderOptions) {
    this.#options = options
    this.name = `KMS plugin ${JSON.stringify(options.name)}`
    this.prefix = Buffer.from(`k8s:enc:kms:v2:${options.name}:`)
  }

  /** Requests the status of the plugin now and then regularly. A plugin that is not ready is reported and called again. */
  async start(): Promise<void> {
    const problem = await this.check().then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    if (problem !== undefined) this.#options.onError(problem.error)
    if (this.#isClosed) return
    const intervalMs = problem === undefined ? healthyEveryMs : unhealthyEveryMs
    this.#cancelTimer = this.#options.clock.setTimeout(() => void this.start(), intervalMs)
  }

  /**
   * Rejects while the plugin is unhealthy. Calls the plugin at most every 20 seconds while it is healthy, and every 3 seconds otherwise.
   */
  check(): Promise<void> {
    const { clock } = this.#options
    const { atMs, problem } = this.#checked ?? { atMs: Number.NEGATIVE_INFINITY, problem: undefined }
    if (clock.now() - atMs < (problem === undefined ? healthyForMs : unhealthyForMs)) {
      return problem === undefined ? Promise.resolve() : Promise.reject(problem)
    }
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  /** Identifies the present encryption: a value with another id is stale. Empty without a seed. */
  get id(): string {
    return this.#seed === undefined ? '' : this.#idOf(this.#seed.source)
  }

  /** Reason why values cannot be encrypted at present; undefined when they can. */
  get writeProblem(): string | undefined {
    if (this.#seed === undefined) return `${this.name} has no key yet`
    if (this.#options.clock.now() <= this.#seed.expiresMs) return undefined
    return `${this.name} has not been healthy for ${seedLastsMs / 1000} seconds`
  }

  /** @throws Error without a seed */
  encrypt(value: Uint8Array, path: Uint8Array): Uint8Array {
    if (this.#seed === undefined) throw new Error(this.writeProblem)
    const { source, cipher } = this.#seed
    return Buffer.concat([this.prefix, encryptedObject.encode({ ...source, encryptedData: cipher.encrypt(value, path) })])
  }

  /**
   * Has the plugin decrypt the data key of a value; undefined when `read` does not need the plugin.
   *
   * @param stored without the prefix
   * @returns rejects when a later attempt may succeed; `read` reports permanent failures
   */
  prepare(stored: Uint8Array): Promise<void> | undefined {
    const object = readObject(stored)
    if (typeof object === 'string') return undefined
    const digest = sourceDigest(object)
    if (this.#keys.has(digest)) return undefined
    let fetching = this.#fetching.get(digest)
    if (fetching === undefined) {
      fetching = this.#fetch(object, digest).finally(() => this.#fetching.delete(digest))
      this.#fetching.set(digest, fetching)
    }
    return fetching
  }

  /** @param stored without the prefix @throws Error with a message that contains no data */
  read(stored: Uint8Array, path: Uint8Array): { readonly value: Uint8Array; readonly id: string } {
    const object = readObject(stored)
    if (typeof object === 'string') throw new Error(object)
    const key = this.#keys.get(sourceDigest(object))
    if (key === undefined) throw new Error('the data key is not decrypted')
    if ('problem' in key) throw new Error(key.problem)
    return { value: key.cipher.decrypt(object.encryptedData, path), id: this.#idOf(object) }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#options.service.close()
  }

  async #check(): Promise<void> {
    const { clock, service, name } = this.#options
    let problem: Error | undefined
    try {
      const status = await service.status().catch((cause: unknown) => {
        throw new Error(
          `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${textOf(cause)}`,
          {
            cause,
          },
        )
      })
      const problems = [...this.#statusProblems(status), ...(await this.#follow(status.keyId))]
      if (problems.length > 0) throw new Error(`kmsv2 Provider ${name} is not healthy, error: ${joined(problems)}`)
    } catch (error) {
      problem = error instanceof Error ? error : new Error(String(error))
    }
    this.#checked = { atMs: clock.now(), problem }
    if (problem !== undefined) throw problem
  }

  #statusProblems({ healthz, version }: KmsStatus): string[] {
    const unhealthy = healthz === 'ok' ? [] : [`got unexpected healthz status: ${healthz}`]
    if (version !== 'v2' && version !== 'v2beta1') return [...unhealthy, `expected KMSv2 API version v2, got ${version}`]
    this.#version ??= version
    if (version === this.#version) return unhealthy
    const changed = `KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`
    return [...unhealthy, changed]
  }

  /**
   * Makes writes use the key that the plugin names. @returns the problems that prevent it; the present seed is then used until it expires
   */
  async #follow(keyId: string): Promise<string[]> {
    const wrong = keyIdProblem(keyId)
    if (wrong !== undefined) return [`got invalid KMSv2 KeyID: ${wrong}`]
    const expiresMs = this.#options.clock.now() + seedLastsMs
    if (this.#seed?.source.keyId === keyId) {
      this.#seed.expiresMs = expiresMs
      return []
    }
    const plaintext = randomBytes(seedBytes)
    try {
      const { ciphertext, ...rest } = await this.#options.service.encrypt(plaintext)
      const source = { ...rest, encryptedSource: ciphertext, sourceType: seedSource }
      const problem = sourceProblem(source)
      if (problem !== undefined) return [`failed to rotate DEK: ${problem}`]
      if (source.keyId !== keyId) return ['failed to rotate DEK: the plugin encrypts with another key than its status names']
      const cipher = seededCipher(plaintext)
      if (this.#seed !== undefined) this.#options.onRotate()
      this.#remember(sourceDigest(source), { cipher })
      this.#seed = { source, cipher, expiresMs }
      return []
    } catch (error) {
      return [`failed to rotate DEK: failed to encrypt DEK, error: ${textOf(error)}`]
    }
  }

  async #fetch(object: EncryptedObject, digest: string): Promise<void> {
    const { encryptedSource: ciphertext, keyId, annotations, sourceType } = object
    try {
      const source = await this.#options.service.decrypt({ ciphertext, keyId, annotations })
      this.#remember(digest, { cipher: cipherOf(sourceType, source) })
    } catch (error) {
      if (this.#mayPass(error, digest)) throw error
      this.#remember(digest, { problem: `failed to decrypt DEK, error: ${textOf(error)}` })
    }
    this.#failingSinceMs.delete(digest)
  }

  /**
   * Whether a failure may be temporary. Plugins use the same status for an invalid request and for a temporary problem, so an ambiguous
   * failure counts as temporary for a limited time.
   */
  #mayPass(error: unknown, digest: string): boolean {
    if (!(error instanceof RpcError)) return false
    if (error.status === unavailableStatus || error.status === deadlineExceeded) return true
    if (error.status !== unknownStatus) return false
    const now = this.#options.clock.now()
    const sinceMs = this.#failingSinceMs.get(digest) ?? now
    this.#failingSinceMs.set(digest, sinceMs)
    return now - sinceMs < ambiguousFailureMs
  }

  #remember(digest: string, key: DataKey): void {
    this.#keys.delete(digest)
    this.#keys.set(digest, key)
    const [oldest] = this.#keys.keys()
    if (this.#keys.size > maxKeys && oldest !== undefined) this.#keys.delete(oldest)
  }

  #idOf({ keyId, sourceType }: DataKeySource): string {
    return `${this.prefix} ${sourceType} ${keyId}`
  }
}

/** The stored object, or a message about its problem. */
function readObject(stored: Uint8Array): EncryptedObject | string {
  let object: EncryptedObject
  try {
    object = encryptedObject.decode(stored)
  } catch {
    return 'the stored data is no encrypted object'
  }
  return sourceProblem(object) ?? (object.encryptedData.length === 0 ? 'encrypted data is empty' : object)
}

function joined(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
