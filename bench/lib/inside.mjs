/** Runs measurements from the sources in a separate process. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of bundles and profiles. */
export const out = join(root, 'bench/dist')

/**
 * Bundles `bench/src/SOURCE.ts` with the sources of the packages.
 *
 * @param {{ name?: string, folder?: string }} options `folder`: where the program finds packages that are not bundled, from the root
 * @returns the program.
 */
export async function bundleInside(source, { name = source.replace(/-main$/, ''), folder } = {}) {
  const dir = folder === undefined ? out : join(root, folder)
  mkdirSync(dir, { recursive: true })
  const bundle = await rolldown({
    input: join(root, `bench/src/${source}.ts`),
    platform: 'node',
    // Syntax is lowered for the oldest supported Node version.
    transform: { target: 'node20' },
    external: ['lmdb', 'tinybench'],
    resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
    logLevel: 'warn',
  })
  await bundle.write({ dir, format: 'esm', entryFileNames: `${name}.mjs`, chunkFileNames: `${name}-[name].mjs` })
  await bundle.close()
  return join(dir, `${name}.mjs`)
}

/** Runs a bundled program; returns its last line, parsed as JSON. */
export function runInside(program, { args = [], nodeFlags = [] } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeFlags, program, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

/** Node flags that write a profile to `bench/dist/profiles`. */
export const profiling = ['--cpu-prof', '--cpu-prof-dir', join(out, 'profiles')]
