import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePrivateDirectory, restrictToOwner, writePrivateFile } from '@krmkit/meta/private-files'
import { CliError } from './cli-error.ts'

/** A file that appears whole and that only its owner reads. */
export async function writeSecret(path: string, text: string): Promise<void> {
  try {
    await writePrivateFile(path, text)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot write ${path}: ${messageOf(cause)}`, cause })
  }
}

/**
 * The text of a secret that `writeSecret` wrote, which is closed to other users if it has been opened since; undefined when there is none.
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
 * Makes the folder of the server's own data, for its owner alone. Where nothing has to be kept, one that is missing stays missing.
 *
 * @throws CliError `FileFailed` when the folder cannot be made or closed to other users.
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

/** The text of a file that a flag names. */
export async function readText(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flag}: cannot read ${path}: ${messageOf(cause)}`, cause })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
