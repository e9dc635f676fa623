#!/usr/bin/env node
// `npm run screenshots` builds the site and the playground, and writes pictures of both and of the inspector, light and dark, to
// `docs/guide/screenshots`. Needs Chromium on the path, or in the variable CHROMIUM.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBundled } from './run-bundled.mjs'
import { root } from './setup.mjs'

const work = mkdtempSync(join(tmpdir(), 'krmkit-screenshots-'))
for (const args of [
  ['scripts/site.mjs', `--out=${join(work, 'site')}`],
  ['scripts/playground.mjs', join(work, 'playground')],
]) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
await runBundled('tests/site/screenshots.ts', { name: 'screenshots', args: [work, join(root, 'docs/guide/screenshots')] })
