#!/usr/bin/env node
// `npm run bench:validators [-- --manifests 3000] [--seed N] [--report FILE]`: validators of manifests beside a kube-apiserver (KRMKIT_PEER).
// The variable KUBECONFORM is the path of kubeconform, if it is to be compared.
import { bundle, bundleFile } from './bundle.mjs'
import { runBundled } from './run-bundled.mjs'
import { setup } from './setup.mjs'
import { stockFolder, withoutStock } from './stock-folder.mjs'

const peer = stockFolder()
if (peer === undefined) {
  console.error(`validators: no kube-apiserver: ${withoutStock}`)
  process.exit(1)
}
setup()
bundle()
const { KUBECONFORM: kubeconform } = process.env
const others = kubeconform === undefined ? [] : ['--kubeconform', kubeconform]
const args = ['--peer', peer, '--krmkit', bundleFile, ...others, ...process.argv.slice(2)]
await runBundled('tests/validators/run.ts', { name: 'validators', args })
