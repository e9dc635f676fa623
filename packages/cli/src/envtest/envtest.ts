import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { CliError } from '../cli-error.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { packageFile } from '../package-file.ts'
import { assetsName, quoted, writeAssets } from './assets.ts'

export interface EnvtestFlags {
  readonly dir?: string
  readonly print: 'path' | 'env'
  readonly controllers: string
  readonly emulatedVersion?: string
}

/** Runs `krmkit envtest`. @returns the exit code. @throws CliError */
export async function runEnvtest(flags: EnvtestFlags, terminal: Terminal): Promise<number> {
  if (process.platform === 'win32') {
    throw new CliError({ code: 'InvalidFlag', message: 'envtest does not support Windows; use it inside WSL' })
  }
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const started = {
    node: process.execPath,
    program: shipped('krmkit.mjs'),
    etcd: shipped('etcd-stand-in.mjs'),
    controllers: flags.controllers,
    emulatedVersion: flags.emulatedVersion,
  }
  const directory = resolve(flags.dir ?? join(cache, 'krmkit', 'envtest', assetsName(terminal.version, started)))
  const { kubectl } = await writeAssets({ ...started, directory, path: process.env.PATH ?? '' })
  if (kubectl === undefined) terminal.err('krmkit: kubectl is not on the PATH; tests that call it will fail\n')
  terminal.out(flags.print === 'path' ? `${directory}\n` : `export KUBEBUILDER_ASSETS=${quoted(directory)}\n`)
  return exitCodes.success
}

/** The path of a file in the folder `bin` of this package. */
function shipped(name: string): string {
  const path = packageFile(`bin/${name}`)
  if (path === undefined) throw new CliError({ code: 'FileFailed', message: `${name} is missing beside the program` })
  return path
}
