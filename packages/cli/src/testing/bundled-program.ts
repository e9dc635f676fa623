import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Bundles a program of tests, which Node 20 cannot run from its sources. @returns its file, and the folder to remove */
export async function bundledProgram(source: URL): Promise<{ readonly file: string; readonly folder: string }> {
  // Below the package, whose dependencies with native code the program finds.
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'program-'))
  const bundle = await rolldown({
    input: fileURLToPath(source),
    platform: 'node',
    external: ['lmdb'],
    resolve: { conditionNames: ['source', 'import', 'module', 'node', 'default'] },
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' })
  await bundle.close()
  return { file: join(folder, 'main.mjs'), folder }
}
