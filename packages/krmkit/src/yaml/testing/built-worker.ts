import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Bundles the worker script from its TypeScript source. @returns its path in a temporary folder */
export async function builtWorker(source = new URL('../yaml-worker.ts', import.meta.url)): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'krmkit-yaml-')), 'yaml-worker.cjs')
  const build = await rolldown({
    input: fileURLToPath(source),
    platform: 'node',
    resolve: { conditionNames: ['source', 'import', 'module', 'node', 'default'] },
    onLog() {},
  })
  await build.write({ file, format: 'cjs', codeSplitting: false })
  await build.close()
  return file
}
