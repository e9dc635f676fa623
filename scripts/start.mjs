#!/usr/bin/env node
// `npm start -- FLAGS`: installs dependencies, updates the bundle, and runs `krmkit serve` with durable storage.
import { createRequire } from 'node:module'
import { tool } from './run.mjs'

const { bundle, bundleFile } = await tool('bundle')
bundle()
const flags = process.argv.slice(2)
const hasStorage = flags.some((flag) => flag === '--storage' || flag.startsWith('--storage='))
process.argv = [process.argv[0], bundleFile, 'serve', ...(hasStorage ? [] : ['--storage', 'durable']), ...flags]
if (process.env.npm_lifecycle_event === 'start') followParent()
createRequire(import.meta.url)(bundleFile)

/** npm runs this script through a shell that does not forward signals, so the exit of the shell stops the server. */
function followParent() {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  timer.unref()
}
