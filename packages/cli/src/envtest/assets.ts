import { createHash } from 'node:crypto'
import { access, constants, symlink, unlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ensurePrivateDirectory, writePrivateFile } from '@krmkit/base/private-files'
import { CliError, messageOf } from '../cli-error.ts'

/** What the written programs start. */
export interface StartedPrograms {
  /** Absolute path of node. */
  readonly node: string
  /** Absolute path of the program `krmkit`. */
  readonly program: string
  /** Absolute path of the etcd stand-in. */
  readonly etcd: string
  /** Value of `--controllers`. */
  readonly controllers: string
  /** Value of `--emulated-version`; undefined without it. */
  readonly emulatedVersion?: string | undefined
}

export interface AssetsOptions extends StartedPrograms {
  /** The folder for KUBEBUILDER_ASSETS. */
  readonly directory: string
  /** The variable PATH, which is searched for kubectl. */
  readonly path: string
}

export interface Assets {
  /** Absolute path of kubectl; undefined when it is not on the PATH. */
  readonly kubectl: string | undefined
}

/** A folder name that differs for each version, installation or checkout, Node executable, selection of controllers and emulated release. */
export function assetsName(version: string, { node, program, etcd, controllers, emulatedVersion }: StartedPrograms): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([node, program, etcd, controllers, ...optionalWord(emulatedVersion)]))
    .digest('hex')
  return `${version}-${digest.slice(0, 12)}`
}

/**
 * Writes the programs that envtest runs: `kube-apiserver`, `etcd` and, when it is installed, `kubectl`.
 *
 * @throws CliError `FileFailed`.
 */
export async function writeAssets(options: AssetsOptions): Promise<Assets> {
  const { directory, node, program, etcd, controllers, emulatedVersion, path } = options
  const release = optionalWord(emulatedVersion).map((version) => `--emulated-version=${version}`)
  try {
    ensurePrivateDirectory(directory)
    await writeProgram(join(directory, 'kube-apiserver'), [
      ...[node, program, 'kube-apiserver', `--controllers=${controllers}`],
      ...release,
    ])
    await writeProgram(join(directory, 'etcd'), [node, etcd])
    const kubectl = await findProgram('kubectl', path)
    await unlink(join(directory, 'kubectl')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (kubectl !== undefined) await symlink(kubectl, join(directory, 'kubectl'))
    return { kubectl }
  } catch (cause) {
    const why = messageOf(cause)
    throw new CliError({ code: 'FileFailed', message: `cannot write the programs for envtest: ${why}`, cause })
  }
}

function optionalWord(word: string | undefined): readonly string[] {
  return word === undefined ? [] : [word]
}

/** Writes a shell script that replaces itself with a program and passes the id of its parent. The script is replaced atomically. */
async function writeProgram(path: string, words: readonly string[]): Promise<void> {
  const text = `#!/bin/sh\nexport KRMKIT_PARENT=$PPID\nexec ${words.map(quoted).join(' ')} "$@"\n`
  await writePrivateFile(path, text, { mode: 0o700, temporaryPath: `${path}.${process.pid}` })
}

/** Quotes a word for the shell. */
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
