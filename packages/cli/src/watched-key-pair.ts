import type { Clock } from '@krmkit/meta'
import { CliError } from './cli-error.ts'
import { readKeyPair } from './key-pair.ts'
import { watchFile } from './watched-file.ts'

/** The flags of a certificate and its key, and their files, which may be absent. */
export interface OptionalKeyPairFlags {
  readonly certificate: { readonly flag: string; readonly path: string | undefined }
  readonly key: { readonly flag: string; readonly path: string | undefined }
}

/** A certificate and its key that are reloaded when their files change. */
export interface WatchedKeyPair extends Disposable {
  readonly now: () => { readonly certificate: string; readonly key: string }
}

/**
 * Reads a certificate and its key, and polls their files for changes.
 *
 * @returns undefined without both files.
 * @throws CliError for a certificate without a key, a key without a certificate, or a file that cannot be used.
 */
export async function watchKeyPair(
  flags: OptionalKeyPairFlags,
  context: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<WatchedKeyPair | undefined> {
  const [certificateFile, keyFile] = [flags.certificate.path, flags.key.path]
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    const message = `--${flags.certificate.flag} and --${flags.key.flag} go together`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  if (certificateFile === undefined || keyFile === undefined) return undefined
  await readKeyPair({
    certificate: { flag: flags.certificate.flag, path: certificateFile },
    key: { flag: flags.key.flag, path: keyFile },
  })
  const certificate = await watchFile(certificateFile, context)
  const key = await watchFile(keyFile, context)
  return {
    now: () => ({ certificate: certificate.text, key: key.text }),
    [Symbol.dispose]() {
      certificate[Symbol.dispose]()
      key[Symbol.dispose]()
    },
  }
}
