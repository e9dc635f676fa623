/**
 * `npm run runtimes [-- --install]`: installs the runtimes of tests/runtimes (Deno, Bun, workerd, versions of Node; some 250 MB) and, but for
 * `--install`, runs its suite in each.
 */
import { run } from './lib/child.ts'

export function main(args: readonly string[]): void {
  run(process.execPath, ['scripts/setup.mjs', '--filter=@krmkit-tests/runtimes'])
  if (args.includes('--install')) return
  run(process.execPath, ['scripts/test.mjs', 'tests/runtimes', ...args], { ...process.env, KRMKIT_RUNTIMES: 'installed' })
}
