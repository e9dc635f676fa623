import { parseConfiguration } from '@krmkit/meta/configuration'

/** Which resources are encrypted with which keys: the parsed file of `--encryption-provider-config`. */
export interface EncryptionConfiguration {
  /** Earlier elements take precedence. */
  readonly resources: readonly ResourceEncryption[]
}

export interface ResourceEncryption {
  /** `secrets`, `widgets.example.com`; `*.` for the core group, `*.apps` for a group, `*.*` for all. */
  readonly resources: readonly string[]
  /** The first provider encrypts writes; reads try all providers in order. */
  readonly providers: readonly EncryptionProvider[]
}

/** Exactly one member is set. */
export interface EncryptionProvider {
  readonly aesgcm?: EncryptionKeys
  readonly aescbc?: EncryptionKeys
  readonly secretbox?: EncryptionKeys
  readonly identity?: object
  readonly kms?: KmsConfiguration
}

/** A plugin that encrypts data keys. */
export interface KmsConfiguration {
  /** `v2`. */
  readonly apiVersion: string
  /** A part of the prefix of stored values. */
  readonly name: string
  /** `unix:///path` */
  readonly endpoint: string
  /** Timeout of a call, in milliseconds. */
  readonly timeoutMs: number
}

export interface EncryptionKeys {
  /** The first key encrypts writes. */
  readonly keys: readonly EncryptionKey[]
}

export interface EncryptionKey {
  readonly name: string
  /** Base64. */
  readonly secret: string
}

const keysShape = { members: { keys: { list: { members: { name: 'string', secret: 'string' } } } } } as const
const providerShape = {
  members: {
    aesgcm: keysShape,
    aescbc: keysShape,
    secretbox: keysShape,
    identity: { members: {} },
    kms: { members: { apiVersion: 'string', name: 'string', endpoint: 'string', timeout: 'duration' } },
  },
} as const
const shape = {
  members: { resources: { list: { members: { resources: { list: 'string' }, providers: { list: providerShape } } } } },
} as const

/**
 * Parses an `EncryptionConfiguration` strictly; `validateEncryptionConfiguration` validates the result.
 *
 * @param value parsed JSON or YAML
 * @param options.repeated messages of the YAML parser about repeated keys
 * @throws Error
 * @example
 * import { parseEncryptionConfiguration } from '@krmkit/storage/encryption'
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
 * const resources = [{ resources: ['secrets'], providers: [{ identity: {} }] }]
 * parseEncryptionConfiguration({ ...type, resources }).resources[0]?.resources // ['secrets']
 */
export function parseEncryptionConfiguration(
  value: unknown,
  options: { readonly repeated?: readonly string[]; readonly apiDomain?: string } = {},
): EncryptionConfiguration {
  const { repeated = [], apiDomain = 'k8s.io' } = options
  const apiVersions = [`apiserver.config.${apiDomain}/v1`]
  const read = parseConfiguration(value, { kind: 'EncryptionConfiguration', apiVersions, schema: shape }, repeated)
  if (!read.ok) throw new Error(`error decoding encryption provider configuration file: ${read.message}`)
  return {
    resources: (read.value.resources ?? []).map(({ resources = [], providers = [] }) => ({
      resources,
      providers: providers.map(({ aesgcm, aescbc, secretbox, identity, kms }) => ({
        ...(aesgcm === undefined ? {} : { aesgcm: keysOf(aesgcm) }),
        ...(aescbc === undefined ? {} : { aescbc: keysOf(aescbc) }),
        ...(secretbox === undefined ? {} : { secretbox: keysOf(secretbox) }),
        ...(identity === undefined ? {} : { identity }),
        ...(kms === undefined ? {} : { kms: kmsOf(kms) }),
      })),
    })),
  }
}

const defaultTimeoutMs = 3000
const nanosecondsPerMillisecond = 1e6

function kmsOf(given: { apiVersion?: string; name?: string; endpoint?: string; timeout?: bigint }): KmsConfiguration {
  const { apiVersion = 'v1', name = '', endpoint = '', timeout } = given
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : Number(timeout) / nanosecondsPerMillisecond
  return { apiVersion, name, endpoint, timeoutMs }
}

function keysOf({
  keys = [],
}: {
  readonly keys?: readonly { readonly name?: string; readonly secret?: string }[]
}): EncryptionKeys {
  return { keys: keys.map(({ name = '', secret = '' }) => ({ name, secret })) }
}
