/** Packs the packages of the workspace and checks the tarballs. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, normalize, posix } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { type Conditions, filesBelow, publishedPackages, readJson, readManifest, root } from '../lib/workspace.ts'
import { hasEntries, type Packed } from './project.ts'

const require = createRequire(import.meta.url)

/** Maximum size of a packed package in KiB, with sources and source maps; that of cli is the bundled command. */
const maxPackedKib: Readonly<Record<string, number>> = {
  ...{ admission: 420, apiserver: 660, controllers: 720, kinds: 1450, schema: 780, storage: 440, cli: 1500 },
}
const usualPackedKib = 300

/** Files that must not be published: compiler state, engine caches, tests and their data. Those of templates are part of new projects. */
const leftover = /\.tsbuildinfo$|\.cache$|\.stamp$|\.test\.|\.test-d\.|\/testdata\/|\/node_modules\//

/** Packs every published package. */
export function packAll(work: string): Packed[] {
  const target = join(work, 'tarballs')
  mkdirSync(target, { recursive: true })
  const npx = process.platform === 'win32' ? 'npx.cmd' : 'npx'
  const pack = [
    '--recursive',
    ...publishedPackages().map((name) => `--filter=./packages/${name}`),
    'pack',
    '--pack-destination',
    target,
  ]
  execFileSync(npx, ['--yes', 'pnpm@10.34.9', ...pack], { cwd: root, stdio: ['ignore', 'ignore', 2] })
  return unpackAll(work)
}

/** Unpacks the tarballs of an earlier `packAll`. @returns the same */
export function unpackAll(work: string): Packed[] {
  return publishedPackages().map((name) => {
    const folder = join(root, 'packages', name)
    const { name: published, version } = readManifest(folder)
    const tarball = join(work, 'tarballs', `${published.replace('@', '').replace('/', '-')}-${version}.tgz`)
    const unpacked = join(work, 'unpacked', name)
    mkdirSync(unpacked, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1'])
    return { name, folder, tarball, unpacked, manifest: readManifest(unpacked) }
  })
}

/** The package with a folder of this name. */
export function packageOf(packed: readonly Packed[], name: string): Packed {
  const found = packed.find((each) => each.name === name)
  if (found === undefined) throw new Error(`packages/${name} is not packed`)
  return found
}

/** @returns one message for each problem. */
export async function checkTarball(packed: Packed): Promise<string[]> {
  const files = filesBelow(packed.unpacked)
  return [
    ...checkManifest(packed, files),
    ...files
      .filter((file) => !file.startsWith('templates/') && leftover.test(`/${file}`))
      .map((file) => `${file} must not be published`),
    ...checkSourceMaps(packed, files),
    ...checkSize(packed),
    ...checkLinks(packed, files),
    ...(await lintMessages(packed)),
    ...typeProblems(packed),
  ]
}

function checkManifest({ manifest, name }: Packed, files: readonly string[]): string[] {
  const problems: string[] = []
  for (const member of ['description', 'license', 'repository', 'keywords', 'homepage', 'bugs', 'engines', 'exports']) {
    if (!(member in manifest)) problems.push(`package.json has no ${member}`)
  }
  if (manifest.repository?.directory !== `packages/${name}`)
    problems.push('repository.directory is not the folder of the package')
  for (const file of ['LICENSE', 'NOTICE', 'README.md']) if (!files.includes(file)) problems.push(`${file} is missing`)
  for (const [path, entry] of Object.entries(manifest.exports ?? {})) {
    for (const target of targetsOf(entry)) {
      if (!files.includes(normalize(target))) problems.push(`exports["${path}"] names ${target}, which is not packed`)
    }
  }
  for (const [dependency, range] of Object.entries(manifest.dependencies ?? {})) {
    if (range.startsWith('workspace:')) problems.push(`dependency ${dependency} still has the range ${range}`)
  }
  return problems
}

/** The files of an entry point under all conditions, which may be nested. */
function targetsOf(entry: string | Conditions): string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(targetsOf)
}

/** Every module has a source map, whose sources are packed. The bundle is minified and has none. */
function checkSourceMaps({ unpacked }: Packed, files: readonly string[]): string[] {
  const packed = new Set(files)
  return files
    .filter((file) => /^dist\/(?!bundle\/).*(\.js|\.d\.ts)$/.test(file))
    .flatMap((file) => {
      if (!packed.has(`${file}.map`)) return [`${file} has no source map`]
      const { sources } = readJson<{ readonly sources: readonly string[] }>(join(unpacked, `${file}.map`))
      return sources
        .map((source) => posix.join(posix.dirname(file), source))
        .filter((source) => !packed.has(source))
        .map((source) => `${file}.map names ${source}, which is not packed`)
    })
}

function checkSize({ tarball, name }: Packed): string[] {
  const kib = Math.ceil(statSync(tarball).size / 1024)
  const limit = maxPackedKib[name] ?? usualPackedKib
  return kib <= limit ? [] : [`${basename(tarball)} has ${kib} KiB, above its budget of ${limit} KiB`]
}

/** README links must work on a registry page: absolute, or to a file of the tarball. */
function checkLinks({ unpacked }: Packed, files: readonly string[]): string[] {
  const text = readFileSync(join(unpacked, 'README.md'), 'utf8')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return links
    .filter((target) => !/^(https:\/\/|#)/.test(target) && !files.includes(normalize(target.replace(/#.*/, ''))))
    .map((target) => `README.md links to ${target}, which is not packed`)
}

async function lintMessages({ unpacked, manifest }: Packed): Promise<string[]> {
  const { messages } = await publint({ pkgDir: unpacked, pack: false, strict: true })
  return messages.map((message) => formatMessage(message, { ...manifest }) ?? message.code)
}

/** Whether TypeScript resolves the types of every entry point as ES modules. */
function typeProblems({ tarball, manifest }: Packed): string[] {
  if (!hasEntries(manifest)) return []
  const attw = join(dirname(require.resolve('@arethetypeswrong/cli/package.json')), 'dist/index.js')
  try {
    execFileSync(process.execPath, [attw, tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-color'], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return []
  } catch (error) {
    if (!(error instanceof Error && 'stdout' in error)) throw error
    const lines = String(error.stdout)
      .split('\n')
      .filter((line) => line.trim() !== '')
    return [`types do not resolve: ${lines.slice(0, 12).join(' | ')}`]
  }
}
