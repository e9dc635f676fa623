import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePrivateDirectory, restrictToOwner, writePrivateFile } from '@krmkit/base/private-files'
import { CliError, messageOf } from './cli-error.ts'

/** Writes a file atomically with mode 0600. @throws CliError `FileFailed` */
export async function writeSecret(path: string, text: string): Promise<void> {
  try {
    await writePrivateFile(path, text)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot write ${path}: ${messageOf(cause)}`, cause })
  }
}

/**
 * Reads a file written by `writeSecret` and restores its mode to 0600. Returns undefined when the file does not exist.
 *
 * @throws CliError `FileFailed`
 */
export async function readSecret(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    restrictToOwner(path)
    return text
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CliError({ code: 'FileFailed', message: `cannot read ${path}: ${messageOf(cause)}`, cause })
  }
}

/**
 * Creates the data folder with mode 0700, or restricts an existing one. A missing folder is created only when `isNeeded` is set.
 *
 * @throws CliError `FileFailed` when the folder cannot be created or restricted.
 */
export function prepareDataFolder(path: string, { isNeeded }: { readonly isNeeded: boolean }): void {
  if (!isNeeded && !existsSync(path)) return
  try {
    ensurePrivateDirectory(path)
    const keys = join(path, 'pki')
    if (existsSync(keys)) ensurePrivateDirectory(keys)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--data-dir: ${messageOf(cause)}`, cause })
  }
}

/** Reads the file that a flag names. @throws CliError `FileFailed` */
export async function readText(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flag}: cannot read ${path}: ${messageOf(cause)}`, cause })
  }
}
