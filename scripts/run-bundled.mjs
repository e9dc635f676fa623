/** Runs a TypeScript program of `tests/` with the sources of the packages, bundled first since Node 20 cannot run TypeScript. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, setup } from './setup.mjs'

/**
 * @param {string} source path from the root
 * @param {{ name: string, args: string[], nodeFlags?: string[], folder?: string }} options `name`: name of the bundle in `folder`, whose
 * packages it finds; by default `tests/dist`
 */
export async function runBundled(source, { name, args, nodeFlags = [], folder = 'tests/dist' }) {
  setup()
  const { rolldown } = await import('rolldown')
  const out = join(root, folder, name)
  mkdirSync(out, { recursive: true })
  const bundle = await rolldown({
    input: join(root, source),
    platform: 'node',
    // Syntax is lowered for the oldest supported Node version.
    transform: { target: 'node20' },
    external: ['lmdb'],
    resolve: { conditionNames: ['source', 'import', 'module', 'node', 'default'] },
    // Programs among the sources of packages, whose modules have no side effects otherwise.
    treeshake: { moduleSideEffects: (id) => id.includes('/src/testing/') || undefined },
    onLog(level, log, handler) {
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  })
  await bundle.write({ dir: out, format: 'esm', entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' })
  await bundle.close()
  const child = spawn(process.execPath, [...nodeFlags, join(out, 'main.mjs'), ...args], { cwd: root, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 130)
  })
}
