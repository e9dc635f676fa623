#!/usr/bin/env node
// `npm run divergence -- [--steps 2000] [--seed N] [--area NAME]`: compares krmkit with kube-apiserver (KRMKIT_PEER) on random scenarios,
// as the release that kube-apiserver has.
// --find: prints the folder of kube-apiserver's executables; the exit code is 1 when there is none.
import { bundle, bundleFile } from './bundle.mjs'
import { runBundled } from './run-bundled.mjs'
import { setup } from './setup.mjs'
import { stockFolder, stockRelease, withoutStock } from './stock-folder.mjs'

const peer = stockFolder()
if (peer === undefined) {
  console.log(`divergence: skipped, no kube-apiserver: ${withoutStock}`)
  process.exitCode = process.argv.includes('--find') ? 1 : 0
} else if (process.argv.includes('--find')) {
  console.log(peer)
} else {
  setup()
  bundle()
  const args = ['--peer', peer, '--release', stockRelease(peer), '--krmkit', bundleFile, ...process.argv.slice(2)]
  await runBundled('tests/differential/run.ts', { name: 'differential', args })
}
