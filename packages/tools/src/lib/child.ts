/** Programs that tools run. */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { publishedPackages, root } from './workspace.ts'

/** Arguments for node that run a tool in a separate process. */
export function toolArgs(name: string, args: readonly string[] = []): string[] {
  return [join(root, 'scripts/run.mjs'), name, ...args]
}

/**
 * Runs a program in the root to its end, with the output of this process.
 *
 * @throws Error when it fails
 */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const shell = process.platform === 'win32' && program !== process.execPath
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', env, shell })
  if (status !== 0)
    throw new Error(`${program} ${args.slice(0, 2).join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`)
}

/** Passes signals on to a child, and ends with its exit code. */
export function endWith(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 130)
  })
}

/** Compiles what has changed of the packages. @throws Error when that fails */
export function buildPackages(): void {
  run('npx', ['tsc', '-b', ...publishedPackages().map((name) => join(root, 'packages', name, 'tsconfig.json'))])
}
