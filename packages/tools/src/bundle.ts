/**
 * Bundles the command `krmkit` into packages/cli/dist/bundle when a source has changed. Dynamic imports stay separate files, so that the start
 * does not load them.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { writeDirectExports } from './bundle/direct-exports.ts'
import { exercise } from './bundle/exercise.ts'
import { licensesOf } from './bundle/licenses.ts'
import { toolArgs } from './lib/child.ts'
import { forNode } from './lib/rolldown.ts'
import { filesBelow, publishedPackages, root } from './lib/workspace.ts'

const out = join(root, 'packages/cli/dist/bundle')
const stampFile = join(out, 'sources.stamp')
/** Runs the command. */
export const bundleFile: string = join(out, 'main.cjs')
/** What decides, besides the sources of the packages and the lock file, what the bundle is. */
const own = ['bundle.ts', 'bundle/code-cache.cjs', 'bundle/direct-exports.ts', 'bundle/exercise.ts', 'bundle/licenses.ts']

/** Updates the bundle in a separate process, so that the bundler's memory is released. */
export function bundle(): void {
  if (isFresh()) return
  const { status } = spawnSync(process.execPath, toolArgs('bundle'), { stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('krmkit: bundling failed')
    process.exit(status ?? 1)
  }
}

export async function main(): Promise<void> {
  if (isFresh()) return
  const dir = `${out}-${process.pid}`
  mkdirSync(dir, { recursive: true })
  try {
    await build(dir)
    publish(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function isFresh(): boolean {
  return existsSync(bundleFile) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourcesStamp()
}

/** A digest of all files that the bundle may include. */
function sourcesStamp(): string {
  const hash = createHash('sha256').update(process.version)
  const add = (file: string) => {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  for (const file of own) add(join(root, 'packages/tools/src', file))
  add(join(root, 'pnpm-lock.yaml'))
  for (const name of publishedPackages()) {
    const folder = join(root, 'packages', name)
    add(join(folder, 'package.json'))
    for (const file of filesBelow(join(folder, 'src'))) if (!file.includes('.test')) add(join(folder, 'src', file))
  }
  return hash.digest('hex')
}

async function build(dir: string): Promise<void> {
  const stamp = sourcesStamp()
  const { rolldown } = await import('rolldown')
  const build = await rolldown({ ...forNode, input: join(root, 'packages/cli/src/main.ts') })
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
  writeFileSync(join(dir, 'licenses.txt'), licensesOf(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))))
  // The worker thread has a separate file, which loads faster without the code of the command.
  const worker = await rolldown({ ...forNode, input: join(root, 'packages/krmkit/src/yaml/yaml-worker.ts') })
  await worker.write({
    file: join(dir, 'yaml-worker.cjs'),
    format: 'cjs',
    codeSplitting: false,
    minify: { mangle: false, compress: true, codegen: true },
  })
  await worker.close()
  const main = join(dir, basename(bundleFile))
  copyFileSync(join(root, 'packages/tools/src/bundle/code-cache.cjs'), main)
  await warmUp(main)
  writeFileSync(join(dir, basename(stampFile)), stamp)
}

/** Puts a built bundle in place, unless another process has been faster: programs may run its bundle by now. */
function publish(dir: string): void {
  if (isFresh()) return
  const old = `${dir}.old`
  if (existsSync(out)) renameSync(out, old)
  renameSync(dir, out)
  rmSync(old, { recursive: true, force: true })
}

/** A short run that writes the V8 code cache for later runs. Without the cache, starts are only slower. */
async function warmUp(bundleFile: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'krmkit-'))
  try {
    await exercise({ bundleFile, dir, env: { ...process.env, KRMKIT_WRITE_CODE_CACHE: '1' } })
  } catch (error) {
    console.error(`krmkit: no code cache, so starts are slower: ${error instanceof Error ? error.message : error}`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
