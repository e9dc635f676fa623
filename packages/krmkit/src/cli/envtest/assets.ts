import { access, constants, symlink, unlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ensurePrivateDirectory, writePrivateFile } from '@krmkit/meta/private-files'
import { CliError } from '../cli-error.ts'

export interface AssetsOptions {
  /** The folder that becomes KUBEBUILDER_ASSETS. */
  readonly directory: string
  /** Absolute path of node. */
  readonly node: string
  /** Absolute path of the program `krmkit`. */
  readonly program: string
  /** Absolute path of what stands in for etcd. */
  readonly etcd: string
  /** Controllers that run beside the server. */
  readonly controllers: string
  /** The variable PATH, where kubectl is looked for. */
  readonly path: string
}

export interface Assets {
  /** Absolute path of kubectl; undefined where there is none. */
  readonly kubectl: string | undefined
}

/**
 * Writes what envtest looks for in its folder: `kube-apiserver`, `etcd` and, where there is one, `kubectl`.
 *
 * @throws CliError `FileFailed`.
 */
export async function writeAssets(options: AssetsOptions): Promise<Assets> {
  const { directory, node, program, etcd, controllers, path } = options
  try {
    ensurePrivateDirectory(directory)
    await writeProgram(join(directory, 'kube-apiserver'), [node, program, 'kube-apiserver', `--controllers=${controllers}`])
    await writeProgram(join(directory, 'etcd'), [node, etcd])
    const kubectl = await findProgram('kubectl', path)
    await unlink(join(directory, 'kubectl')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (kubectl !== undefined) await symlink(kubectl, join(directory, 'kubectl'))
    return { kubectl }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError({ code: 'FileFailed', message: `cannot write the programs for envtest: ${why}`, cause })
  }
}

/** A program that becomes another, which learns who started it; whoever runs it meanwhile is not disturbed. */
async function writeProgram(path: string, words: readonly string[]): Promise<void> {
  const text = `#!/bin/sh\nexport KRMKIT_PARENT=$PPID\nexec ${words.map(quoted).join(' ')} "$@"\n`
  await writePrivateFile(path, text, { mode: 0o700, temporaryPath: `${path}.${process.pid}` })
}

/** A word for the shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue
    const candidate = join(folder, name)
    const found = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return candidate
  }
  return undefined
}
