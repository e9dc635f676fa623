/** Projects of different kinds that install the packed packages: CommonJS, jest, the client alone, an installation without native code. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { filesBelow, root } from '../lib/workspace.ts'
import { type CheckResult, createProject, type Packed, problemsOf, workspaceVersion } from './project.ts'
import { packageOf } from './tarballs.ts'

type PackedList = readonly Packed[]

const jestVersion = '30.2.0'
const playwrightVersion = '1.65.1'
const esbuildVersion = '0.28.2'
/** Upper bound of the folder `node_modules` of a project with `@krmkit/client` alone, in MiB. */
const clientMib = 30
/** Upper bound of the folder `node_modules` of a project with `krmkit` alone, without optional packages, in MiB. */
const libraryMib = 45

/** @param project a folder with all packages installed */
export async function checkConsumers(work: string, packed: PackedList, project: string): Promise<CheckResult[]> {
  return [
    { name: 'require() of every entry point', problems: requireAll(packed, project) },
    { name: 'the command runs the bundle', problems: checkCommand(project) },
    { name: 'the command alone', problems: checkCommandAlone(work, packed) },
    { name: 'the library without the command', problems: checkLibrary(work, packed) },
    { name: 'jest with CommonJS tests', problems: checkJest(work, packed) },
    { name: 'jest with ES modules', problems: checkJestModules(work, packed) },
    { name: 'playwright', problems: checkPlaywright(work, packed) },
    { name: 'node:test', problems: checkNodeTest(work, packed) },
    { name: 'the client alone', problems: checkClient(work, packed) },
    { name: 'a bundle for browsers', problems: checkBrowserBundle(work, packed) },
    { name: 'without lmdb', problems: await checkWithoutLmdb(work, packed) },
  ]
}

/** Node loads ES modules by require() from 20.19 and 22.12 on, unless one of them awaits at its top level. */
function requireAll(packed: PackedList, project: string): string[] {
  if (!('require_module' in process.features && process.features.require_module)) return []
  const ids = packed.flatMap(({ manifest: { name, exports = {} } }) =>
    Object.keys(exports).map((path) => `${name}${path.slice(1)}`),
  )
  writeFileSync(join(project, 'require.cjs'), ids.map((id) => `require(${JSON.stringify(id)})\n`).join(''))
  return problemsOf(process.execPath, ['require.cjs'], { cwd: project })
}

function checkCommand(project: string): string[] {
  const command = join(project, 'node_modules/.bin/krmkit')
  writeFileSync(join(project, 'config-map.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n')
  return [
    ...problemsOf(command, ['--help'], { cwd: project, prints: 'serve' }),
    ...problemsOf(command, ['validate', 'config-map.yaml'], { cwd: project }),
    ...differences('@krmkit/cli has in dist', readdirSync(join(project, 'node_modules/@krmkit/cli/dist')), ['bundle']),
  ]
}

/** The command needs no package but its own. */
function checkCommandAlone(work: string, packed: PackedList): string[] {
  const manifest = { devDependencies: { '@krmkit/cli': '*' } }
  const folder = createProject(work, { name: 'command-alone', packed, manifest, flags: ['--omit=optional'] })
  return [
    ...differences('@krmkit/cli installs', installedIn(folder), ['@krmkit/cli']),
    ...problemsOf(join(folder, 'node_modules/.bin/krmkit'), ['--version'], { cwd: folder }),
  ]
}

/** `npm install krmkit` brings no package of the command; the program `krmkit` then starts the command by npx, here from its tarball. */
function checkLibrary(work: string, packed: PackedList): string[] {
  const manifest = { dependencies: { krmkit: '*', zod: workspaceVersion('zod') } }
  const folder = createProject(work, { name: 'library', packed, manifest, flags: ['--omit=optional'] })
  const mib = bytesOf(join(folder, 'node_modules')) / 2 ** 20
  const ofCommand = /^(@krmkit\/cli$|commander$|picocolors$|vscode-)/
  const { tarball } = packageOf(packed, 'cli')
  mkdirSync(join(folder, 'bin'))
  const exec = `exec npm exec --yes --ignore-scripts --omit=optional --package=file:${tarball} "$@"`
  writeFileSync(join(folder, 'bin/npx'), `#!/bin/sh\nshift 2\n${exec}\n`, { mode: 0o755 })
  const env = { PATH: [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter) }
  const command = join(folder, 'node_modules/.bin/krmkit')
  return [
    ...differences(
      'krmkit installs',
      installedIn(folder).filter((name) => ofCommand.test(name)),
      [],
    ),
    ...(mib <= libraryMib ? [] : [`krmkit installs ${mib.toFixed(1)} MiB, above its budget of ${libraryMib} MiB`]),
    ...problemsOf(command, ['--help'], { cwd: folder, env, prints: 'Manifests (offline)' }),
    ...problemsOf(command, ['validate', 'missing.yaml'], { cwd: folder, env, status: 2, prints: 'npm install -D @krmkit/cli' }),
  ]
}

/** The names of the installed packages. */
function installedIn(folder: string): string[] {
  const modules = join(folder, 'node_modules')
  const names = (scope: string) => readdirSync(join(modules, scope)).map((name) => join(scope, name))
  return names('').flatMap((name) => (name.startsWith('.') ? [] : name.startsWith('@') ? names(name) : [name]))
}

function differences(what: string, found: readonly string[], expected: readonly string[]): string[] {
  return found.join() === expected.join()
    ? []
    : [`${what} ${found.join(', ') || 'nothing'}, not ${expected.join(', ') || 'nothing'}`]
}

/** The test that packages/testing/README.md shows. */
function checkJest(work: string, packed: PackedList): string[] {
  const readme = readFileSync(join(packageOf(packed, 'testing').folder, 'README.md'), 'utf8')
  const test = /```js\n([\s\S]*?)```/.exec(readme)?.[1]
  if (test === undefined) return ['packages/testing/README.md shows no test for jest']
  const devDependencies = { '@krmkit/testing': '*', '@krmkit/kinds': '*', zod: workspaceVersion('zod'), jest: jestVersion }
  const folder = createProject(work, { name: 'jest', packed, manifest: { devDependencies } })
  writeFileSync(join(folder, 'operator.test.js'), test)
  const env = { NODE_OPTIONS: '--experimental-vm-modules' }
  const jest = join(folder, 'node_modules/.bin/jest')
  const passes = problemsOf(jest, [], { cwd: folder, env, prints: '1 passed' })
  writeFileSync(join(folder, 'operator.test.js'), test.replace("data: { k: 'v' } })\n})", "data: { k: 'w' } })\n})"))
  const page = 'test-results/operator-test-stores-a-configmap-1.html'
  return [
    ...passes,
    ...problemsOf(jest, [], { cwd: folder, env, status: 1, prints: `inspector: ${page}` }),
    ...absent(folder, page),
  ]
}

/** Whether a failed test has left its page. */
function absent(folder: string, page: string): string[] {
  return existsSync(join(folder, page)) ? [] : [`${page} was not written`]
}

function checkJestModules(work: string, packed: PackedList): string[] {
  const devDependencies = { '@krmkit/testing': '*', '@krmkit/kinds': '*', zod: workspaceVersion('zod'), jest: jestVersion }
  const jest = { testMatch: ['**/*.test.mjs'] }
  const folder = createProject(work, { name: 'jest-modules', packed, manifest: { type: 'module', jest, devDependencies } })
  writeFileSync(join(folder, 'cluster.test.mjs'), readFileSync(join(root, 'tests/runners/jest-modules.mjs')))
  return fixtureProblems(folder, {
    ...{ command: join(folder, 'node_modules/.bin/jest'), args: [], page: 'pages/cluster-test-fails-3.html' },
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
    prints: '2 passed',
  })
}

interface Fixture {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly prints: string
  /** Path of the page that a failed test leaves. */
  readonly page: string
}

/** Runs the tests, and again with one that fails and leaves a page. */
function fixtureProblems(folder: string, { command, args, env = {}, prints, page }: Fixture): string[] {
  return [
    ...problemsOf(command, args, { cwd: folder, env, prints }),
    ...problemsOf(command, args, { cwd: folder, env: { ...env, FAIL: '1' }, status: 1, prints: `inspector: ${page}` }),
    ...absent(folder, page),
  ]
}

function checkPlaywright(work: string, packed: PackedList): string[] {
  const playwright = { '@playwright/test': playwrightVersion }
  const devDependencies = { '@krmkit/testing': '*', '@krmkit/kinds': '*', zod: workspaceVersion('zod'), ...playwright }
  const folder = createProject(work, { name: 'playwright', packed, manifest: { type: 'module', devDependencies } })
  writeFileSync(join(folder, 'cluster.spec.mjs'), readFileSync(join(root, 'tests/runners/playwright.mjs')))
  const args = ['test', 'cluster.spec.mjs', '--reporter=line']
  const command = join(folder, 'node_modules/.bin/playwright')
  return fixtureProblems(folder, { command, args, prints: '2 passed', page: 'pages/cluster-spec-fails-3.html' })
}

function checkNodeTest(work: string, packed: PackedList): string[] {
  const devDependencies = { '@krmkit/testing': '*', '@krmkit/kinds': '*', zod: workspaceVersion('zod') }
  const folder = createProject(work, { name: 'node-test', packed, manifest: { type: 'module', devDependencies } })
  writeFileSync(join(folder, 'cluster.test.mjs'), readFileSync(join(root, 'tests/runners/node-test.mjs')))
  const args = ['--test', '--test-reporter=tap', 'cluster.test.mjs']
  return fixtureProblems(folder, { command: process.execPath, args, prints: '# pass 2', page: 'pages/cluster-test-fails-3.html' })
}

function checkClient(work: string, packed: PackedList): string[] {
  const manifest = { type: 'module', dependencies: { '@krmkit/client': '*' } }
  const folder = createProject(work, { name: 'client-alone', packed, manifest })
  writeFileSync(
    join(folder, 'main.mjs'),
    "import { createRemoteClient } from '@krmkit/client'\nconsole.log(typeof createRemoteClient)\n",
  )
  const siblings = readdirSync(join(folder, 'node_modules/@krmkit')).sort().join(', ')
  const mib = bytesOf(join(folder, 'node_modules')) / 2 ** 20
  return [
    ...problemsOf(process.execPath, ['main.mjs'], { cwd: folder, prints: 'function' }),
    ...(siblings === 'client, meta, protocol, schema' ? [] : [`the client installs ${siblings}`]),
    ...(mib <= clientMib ? [] : [`the client installs ${mib.toFixed(1)} MiB, above its budget of ${clientMib} MiB`]),
  ]
}

/** A bundler that resolves every import before it drops what is not used. */
function checkBrowserBundle(work: string, packed: PackedList): string[] {
  const names = ['apiserver', 'controllers', 'fieldmanager', 'kinds', 'storage', 'testing'].map((name) => `@krmkit/${name}`)
  const dependencies = { ...Object.fromEntries(names.map((name) => [name, '*'])), krmkit: '*', zod: workspaceVersion('zod') }
  const manifest = { type: 'module', dependencies, devDependencies: { esbuild: esbuildVersion } }
  const folder = createProject(work, { name: 'browser', packed, manifest })
  const imported = [...names, 'krmkit/validate']
  writeFileSync(join(folder, 'main.mjs'), imported.map((name, i) => `export * as part${i} from '${name}'\n`).join(''))
  const args = ['main.mjs', '--bundle', '--splitting', '--format=esm', '--outdir=out', '--log-level=error']
  return problemsOf(join(folder, 'node_modules/.bin/esbuild'), args, { cwd: folder })
}

function bytesOf(folder: string): number {
  return filesBelow(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
}

async function checkWithoutLmdb(work: string, packed: PackedList): Promise<string[]> {
  const dependencies = { '@krmkit/cli': '*' }
  const folder = createProject(work, { name: 'without-lmdb', packed, manifest: { dependencies }, flags: ['--omit=optional'] })
  const command = join(folder, 'node_modules/.bin/krmkit')
  const durable = ['serve', '--secure-port=0', '--storage=durable']
  return [
    ...(readdirSync(join(folder, 'node_modules')).includes('lmdb') ? ['lmdb is installed without optional packages'] : []),
    ...problemsOf(command, durable, { cwd: folder, status: 1, prints: 'npm install lmdb' }),
    ...(await servesInMemory(command, folder)),
  ]
}

async function servesInMemory(command: string, folder: string): Promise<string[]> {
  const child = spawn(command, ['serve', '--secure-port=0', '--storage=memory'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [outcome] = await Promise.race([once(child.stdout, 'data'), exited])
  child.kill('SIGTERM')
  await exited
  return String(outcome).includes('https://') ? [] : [`the server in memory does not start: ${outcome}`]
}
