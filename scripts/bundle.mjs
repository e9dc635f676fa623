#!/usr/bin/env node
// Bundles the command `krmkit` into packages/cli/dist/bundle when a source has changed. Dynamic imports stay separate files, so that
// the start does not load them.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { licensesOf } from './bundle-licenses.mjs'
import { writeDirectExports } from './direct-exports.mjs'
import { exercise } from './exercise.mjs'
import { root, setup } from './setup.mjs'

const out = join(root, 'packages/cli/dist/bundle')
const stampFile = join(out, 'sources.stamp')
/** Runs the command. */
export const bundleFile = join(out, 'main.cjs')
/** Packages with native code cannot be bundled; the bundle imports them by name. */
const native = ['lmdb']

/** Updates the bundle in a separate process, so that the bundler's memory is released. */
export function bundle() {
  if (isFresh()) return
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('krmkit: bundling failed')
    process.exit(status ?? 1)
  }
}

function isFresh() {
  return existsSync(bundleFile) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourcesStamp()
}

/** A digest of all files that the bundle may include. */
function sourcesStamp() {
  const hash = createHash('sha256').update(process.version)
  const add = (file) => {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  for (const script of ['bundle.mjs', 'bundle-licenses.mjs', 'code-cache.cjs', 'direct-exports.mjs', 'exercise.mjs'])
    add(join(root, 'scripts', script))
  add(join(root, 'pnpm-lock.yaml'))
  for (const name of readdirSync(join(root, 'packages')).sort()) {
    const folder = join(root, 'packages', name)
    if (!existsSync(join(folder, 'package.json'))) continue
    add(join(folder, 'package.json'))
    for (const entry of readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.name.includes('.test')) add(join(entry.parentPath ?? entry.path, entry.name))
    }
  }
  return hash.digest('hex')
}

async function build(dir) {
  const stamp = sourcesStamp()
  const { rolldown } = await import('rolldown')
  const options = {
    platform: 'node',
    // Syntax is lowered for the oldest supported Node version.
    transform: { target: 'node20' },
    resolve: { conditionNames: ['source', 'import', 'module', 'node', 'default'] },
    external: native,
    onLog(level, log, handler) {
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  }
  const build = await rolldown({ ...options, input: join(root, 'packages/cli/src/main.ts') })
  const { output } = await build.write({
    dir,
    format: 'cjs',
    dynamicImportInCjs: false,
    entryFileNames: 'krmkit.cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: { mangle: false, compress: true, codegen: true },
  })
  await build.close()
  writeDirectExports(dir)
  writeFileSync(join(dir, 'licenses.txt'), licensesOf(output.flatMap(({ moduleIds = [] }) => moduleIds)))
  // The worker thread has a separate file, which loads faster without the code of the command.
  const worker = await rolldown({ ...options, input: join(root, 'packages/krmkit/src/yaml/yaml-worker.ts') })
  await worker.write({
    file: join(dir, 'yaml-worker.cjs'),
    format: 'cjs',
    codeSplitting: false,
    minify: { mangle: false, compress: true, codegen: true },
  })
  await worker.close()
  const main = join(dir, basename(bundleFile))
  copyFileSync(join(root, 'scripts/code-cache.cjs'), main)
  await warmUp(main)
  writeFileSync(join(dir, basename(stampFile)), stamp)
}

/** Puts a built bundle in place, unless another process has been faster: programs may run its bundle by now. */
function publish(dir) {
  if (isFresh()) return
  const old = `${dir}.old`
  if (existsSync(out)) renameSync(out, old)
  renameSync(dir, out)
  rmSync(old, { recursive: true, force: true })
}

/** A short run that writes the V8 code cache for later runs. Without the cache, starts are only slower. */
async function warmUp(bundleFile) {
  const dir = mkdtempSync(join(tmpdir(), 'krmkit-'))
  try {
    await exercise({ bundleFile, dir, env: { ...process.env, KRMKIT_WRITE_CODE_CACHE: '1' } })
  } catch (error) {
    console.error(`krmkit: no code cache, so starts are slower: ${error.message}`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup()
  if (!isFresh()) {
    const dir = `${out}-${process.pid}`
    mkdirSync(dir, { recursive: true })
    try {
      await build(dir)
      publish(dir)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }
}
