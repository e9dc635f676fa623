#!/usr/bin/env node
// `npm start -- FLAGS`: installs what is missing, bundles what has changed, and becomes `krmkit serve` with durable storage.
import { pathToFileURL } from 'node:url'
import { bundle, bundleFile } from './bundle.mjs'
import { setup } from './setup.mjs'

setup()
bundle()
const flags = process.argv.slice(2)
const hasStorage = flags.some((flag) => flag === '--storage' || flag.startsWith('--storage='))
process.argv = [process.argv[0], bundleFile, 'serve', ...(hasStorage ? [] : ['--storage', 'durable']), ...flags]
await import(pathToFileURL(bundleFile).href)
