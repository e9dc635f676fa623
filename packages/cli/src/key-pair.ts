import { createPrivateKey, X509Certificate } from 'node:crypto'
import { CliError } from './cli-error.ts'
import { readText } from './files.ts'

/** The flags and files of a certificate and its private key. */
export interface KeyPairFlags {
  readonly certificate: { readonly flag: string; readonly path: string }
  readonly key: { readonly flag: string; readonly path: string }
}

/**
 * Reads a certificate and its private key in PEM.
 *
 * @throws CliError when a file cannot be read or parsed, or the key does not match the certificate; the message names flag and file.
 */
export async function readKeyPair({
  certificate,
  key,
}: KeyPairFlags): Promise<{ readonly certificate: string; readonly key: string }> {
  const certificateText = await readText(certificate.path, certificate.flag)
  const keyText = await readText(key.path, key.flag)
  const leaf = parsed(() => new X509Certificate(certificateText), { ...certificate, what: 'certificate' })
  const own = parsed(() => createPrivateKey(keyText), { ...key, what: 'private key' })
  if (leaf.checkPrivateKey(own)) return { certificate: certificateText, key: keyText }
  const message = `--${key.flag}: ${key.path} is not the key of the certificate in ${certificate.path} (--${certificate.flag})`
  throw new CliError({ code: 'FileFailed', message })
}

function parsed<T>(
  parse: () => T,
  { flag, path, what }: { readonly flag: string; readonly path: string; readonly what: string },
): T {
  try {
    return parse()
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flag}: ${path} holds no ${what} in PEM`, cause })
  }
}
