#!/usr/bin/env node
// `npm start -- FLAGS`: installs what is missing, bundles what has changed, and becomes `krmkit serve` with durable storage.
import { createRequire } from 'node:module'
import { bundle, bundleFile } from './bundle.mjs'
import { setup } from './setup.mjs'

setup()
bundle()
const flags = process.argv.slice(2)
const hasStorage = flags.some((flag) => flag === '--storage' || flag.startsWith('--storage='))
process.argv = [process.argv[0], bundleFile, 'serve', ...(hasStorage ? [] : ['--storage', 'durable']), ...flags]
if (process.env.npm_lifecycle_event === 'start') followParent()
createRequire(import.meta.url)(bundleFile)

/** npm runs us through a shell that dies of a signal without passing it on: losing it means to stop. */
function followParent() {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  timer.unref()
}
