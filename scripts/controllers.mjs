#!/usr/bin/env node
// `npm run controllers -- [--only NAME]`: compares krmkit's controllers with a stock kube-controller-manager (KRMKIT_PEER) on scenarios.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundle, bundleFile } from './bundle.mjs'
import { runBundled } from './run-bundled.mjs'
import { setup } from './setup.mjs'
import { stockFolder, withoutStock } from './stock-folder.mjs'

const manager = join(stockFolder() ?? '', 'kube-controller-manager')
if (!existsSync(manager)) {
  console.log(`controllers: skipped, no kube-controller-manager: ${withoutStock}`)
} else {
  setup()
  bundle()
  const args = ['--manager', manager, '--krmkit', bundleFile, ...process.argv.slice(2)]
  await runBundled('tests/controllers/run.ts', { name: 'controllers', args })
}
