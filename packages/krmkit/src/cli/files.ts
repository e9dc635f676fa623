import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError } from './cli-error.ts'

/** A file that appears whole and that only its owner reads. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(draft, text, { mode: 0o600 })
    await rename(draft, path)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot write ${path}: ${messageOf(cause)}`, cause })
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
