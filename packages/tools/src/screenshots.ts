/**
 * `npm run screenshots` builds the site and the playground, and writes pictures of both and of the inspector, light and dark, to
 * `docs/guide/screenshots`. Needs Chromium on the path, or in the variable CHROMIUM.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, toolArgs } from './lib/child.ts'
import { runBundled } from './lib/run-bundled.ts'
import { root } from './lib/workspace.ts'

export async function main(): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'krmkit-screenshots-'))
  run(process.execPath, toolArgs('site', [`--out=${join(work, 'site')}`]))
  run(process.execPath, toolArgs('playground', [join(work, 'playground')]))
  await runBundled('screenshots', { source: 'tests/site/screenshots.ts', args: [work, join(root, 'docs/guide/screenshots')] })
}
