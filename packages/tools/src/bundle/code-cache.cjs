/**
 * Runs the bundled command with the V8 code cache of an earlier run, since loading and compiling 2 MB of JavaScript takes a third of the
 * start. V8 rejects the cache of another Node version, and the code is compiled again.
 *
 * With KRMKIT_WRITE_CODE_CACHE set, the cache is written when the process exits.
 */
'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join, resolve } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { Script, constants } = require('node:vm')

/** Modules of Node.js that every command loads, and those of the commands that serve. */
const ofCommands = ['child_process', 'fs/promises', 'process']
const ofServers = [
  'cluster',
  'crypto',
  'dns',
  'dns/promises',
  'http2',
  'https',
  'os',
  'perf_hooks',
  'timers/promises',
  'worker_threads',
  'zlib',
]

/** How much code a function runs until V8 considers optimizing it: in a process that may be short-lived, and V8's default. */
const shortLivedBudget = '--interrupt-budget=400000'
const longLivedBudget = '--interrupt-budget=135168'
/** Processor time in microseconds of a server that is not short-lived: that of its start and some thousand requests. */
const shortLivedMicroseconds = 1_800_000
const checkMs = 1000

const writesCache = process.env.KRMKIT_WRITE_CODE_CACHE !== undefined
let isLongLived = false

// Node 20 optimizes a function after so little use that a short-lived server spends a quarter of its processor time on compilation.
// Later versions have a cheaper compiler between the two. Before any script is loaded: the code cache is valid for one set of flags.
// So is the code cache of Node's own modules, which are loaded first: without it, those of a server take 25 ms more to compile.
if (process.versions.node.startsWith('20.')) {
  const serves = process.argv[2] === 'serve' || process.argv[2] === 'worker'
  for (const name of serves ? [...ofCommands, ...ofServers] : ofCommands) require(`node:${name}`)
  if (serves) void globalThis.crypto.subtle
  setFlagsFromString(shortLivedBudget)
  if (serves && !writesCache) optimizeWhenLongLived()
}

/** The code that a server still runs after its first thousands of requests is worth its compilation. */
function optimizeWhenLongLived() {
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage()
    if (user + system < shortLivedMicroseconds) return
    clearInterval(timer)
    isLongLived = true
    setFlagsFromString(longLivedBudget)
  }, checkMs)
  timer.unref()
}

/** Loaded files by path. */
const loaded = new Map()

function load(file) {
  const known = loaded.get(file)
  if (known !== undefined) return known.module.exports
  const script = compile(file)
  const module = { exports: {} }
  loaded.set(file, { module, script })
  const other = createRequire(file)
  const require = Object.assign(
    (id) => (id.endsWith('.cjs') && id.startsWith('./') ? load(resolve(dirname(file), id)) : other(id)),
    other,
  )
  script.runInThisContext().call(module.exports, module.exports, require, module, file, dirname(file))
  return module.exports
}

function compile(file) {
  // The flags of the cache.
  if (isLongLived) setFlagsFromString(shortLivedBudget)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) { ${readFileSync(file, 'utf8')}\n})`, {
    filename: file,
    cachedData: readCache(file),
    importModuleDynamically: constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (isLongLived) setFlagsFromString(longLivedBudget)
  return script
}

function readCache(file) {
  try {
    return readFileSync(`${file}.cache`)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

if (writesCache) {
  process.once('exit', () => {
    for (const [file, { script }] of loaded) writeFileSync(`${file}.cache`, script.createCachedData())
  })
}

load(join(__dirname, 'krmkit.cjs'))
