import type { HealthCheck } from '@krmkit/apiserver'
import { type Clock, stockProfile, systemClock } from '@krmkit/meta'
import { formatFieldErrors } from '@krmkit/meta/validation'
import type { Storage, ValueTransformer } from '@krmkit/storage'
import type { Encryption, EncryptionConfiguration } from '@krmkit/storage/encryption'
import { CliError, messageOf } from '../cli-error.ts'
import { readText } from '../files.ts'
import type { Log } from '../log.ts'
import type { ServeOptions } from '../serve-options.ts'
import { parseConfigurationText, watchConfiguration } from '../watched-configuration.ts'

/** The encryption of `--encryption-provider-config`. */
export interface OpenedEncryption extends Disposable {
  readonly transformer: ValueTransformer
  /** Names the storage whose values are transformed, so that a rotation knows its revision. */
  attach(storage: Pick<Storage, 'revision'>): void
  /** The check of KMS plugins, with the name of kube-apiserver. */
  readonly readiness: readonly HealthCheck[]
}

export interface EncryptionFlags {
  readonly encryptionProviderConfig?: string
  readonly encryptionProviderConfigAutomaticReload: boolean
  readonly storage: ServeOptions['storage']
}

const flag = 'encryption-provider-config'

/** Reads the file, and watches it if the flags say so. @throws CliError for flags or a file that cannot be used */
export async function openEncryption(
  options: EncryptionFlags,
  { log, clock = systemClock }: { readonly log: Log; readonly clock?: Clock },
): Promise<OpenedEncryption | undefined> {
  const { encryptionProviderConfig: path, encryptionProviderConfigAutomaticReload: reloads } = options
  if (path === undefined) {
    if (!reloads) return undefined
    throw new CliError({ code: 'InvalidFlag', message: `--${flag}-automatic-reload must be set with --${flag}` })
  }
  const module = await import('@krmkit/storage/encryption')
  const read = (text: string): EncryptionConfiguration => {
    const { value, repeated } = parseConfigurationText(text)
    const configuration = module.parseEncryptionConfiguration(value, { repeated, apiDomain: stockProfile.apiDomain })
    const errors = module.validateEncryptionConfiguration(configuration)
    if (errors.length > 0) throw new Error(`error while parsing file: ${formatFieldErrors(errors)}`)
    return configuration
  }
  const create = async (configuration: EncryptionConfiguration): Promise<Encryption> => {
    try {
      return await module.createEncryption(configuration, { clock, onError: (error) => log.error('encryption', error) })
    } catch (cause) {
      throw new CliError({
        code: 'InvalidFlag',
        message: `--${flag}: error while building transformers: ${messageOf(cause)}`,
        cause,
      })
    }
  }
  if (!reloads) {
    const text = await readText(path, flag)
    const transformer = await create(attempt(() => read(text)))
    const readiness = transformer.usesKms ? [healthOf(transformer)] : []
    return { transformer, readiness, attach: () => undefined, [Symbol.dispose]: () => transformer[Symbol.dispose]() }
  }
  let storage: Pick<Storage, 'revision'> | undefined
  let encryption: Encryption | undefined
  const file = await watchConfiguration(path, {
    flag,
    clock,
    onError: (error) => log.error('encryption', error),
    onApplied: () => log.info(`--${flag} has been reloaded`),
    read,
    apply: async (next) => encryption?.replace(next, storage?.revision ?? 0),
  })
  try {
    encryption = await create(file.first)
  } catch (error) {
    file[Symbol.dispose]()
    throw error
  }
  const opened = encryption
  return {
    transformer: opened,
    // Also without plugins: the next configuration may have some.
    readiness: [healthOf(opened)],
    attach(attached) {
      storage = attached
    },
    [Symbol.dispose]() {
      file[Symbol.dispose]()
      opened[Symbol.dispose]()
    },
  }
}

function healthOf(encryption: Encryption): HealthCheck {
  return { name: 'kms-providers', check: () => encryption.checkHealth() }
}

function attempt<T>(run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw new CliError({ code: 'InvalidFlag', message: `--${flag}: ${messageOf(cause)}`, cause })
  }
}
