/** Measures inside a process of its own, from the sources. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where measurements are bundled to, and profiles written. */
export const out = join(root, 'bench/dist')

/**
 * Bundles `bench/src/SOURCE.ts` with the sources of the packages.
 *
 * @returns the program.
 */
export async function bundleInside(source, name = source.replace(/-main$/, '')) {
  mkdirSync(out, { recursive: true })
  const bundle = await rolldown({
    input: join(root, `bench/src/${source}.ts`),
    platform: 'node',
    // What the oldest supported node does not know is put in its words.
    transform: { target: 'node20' },
    external: ['lmdb', 'tinybench'],
    resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
    logLevel: 'warn',
  })
  await bundle.write({ dir: out, format: 'esm', entryFileNames: `${name}.mjs`, chunkFileNames: `${name}-[name].mjs` })
  await bundle.close()
  return join(out, `${name}.mjs`)
}

/** Runs a bundled program; returns what it printed last, which is JSON. */
export function runInside(program, { args = [], nodeFlags = [] } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeFlags, program, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

/** Flags of node that leave a profile in `bench/dist/profiles`. */
export const profiling = ['--cpu-prof', '--cpu-prof-dir', join(out, 'profiles')]
