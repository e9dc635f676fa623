// Installs the packed packages in an empty project and runs the README examples there.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../setup.mjs'

/** Code that precedes an example, as described in its README. */
const preludes = {
  registry: [
    "import { createAdmissionChain } from '@krmkit/admission'",
    "import { builtInKinds, builtInTypes } from '@krmkit/kinds'",
    "import { createFeatures, stockProfile, systemClock, systemRandom } from '@krmkit/meta'",
    "import { memoryStorage } from '@krmkit/storage'",
    'const own = { clock: systemClock, random: systemRandom, profile: stockProfile, features: createFeatures("1.33") }',
    'const environment = { ...own, storage: memoryStorage(), types: builtInTypes(), admission: createAdmissionChain([]) }',
    'const { signal } = new AbortController()',
    '',
  ].join('\n'),
  controllers: "import { createTestServer } from '@krmkit/testing'\nconst server = await createTestServer({ controllers: [] })\n",
}

/** @returns the name and problems of each example. */
export function runExamples(work, packages) {
  const project = installAll(work, packages)
  const readmes = [
    { name: 'README.md', file: join(root, 'README.md'), prelude: '' },
    ...packages.map(({ name, folder }) => ({
      name: `packages/${name}/README.md`,
      file: join(folder, 'README.md'),
      prelude: preludes[name] ?? '',
    })),
  ]
  const examples = readmes.map(({ name, file, prelude }) => {
    const code = /```ts\n([\s\S]*?)```/.exec(readFileSync(file, 'utf8'))?.[1]
    return code === undefined ? { name, problems: ['has no example'] } : { name, problems: runExample(project, prelude + code) }
  })
  return [...examples, { name: 'krmkit --help', problems: runCommand(project) }]
}

/** An empty project with the tarballs as dependencies; overrides resolve the packages among each other. */
function installAll(work, packages) {
  const project = join(work, 'project')
  mkdirSync(project)
  const files = Object.fromEntries(packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]))
  const manifest = {
    name: 'empty',
    private: true,
    type: 'module',
    dependencies: { ...files, zod: zodVersion() },
    overrides: files,
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel=error'], {
    cwd: project,
    stdio: ['ignore', 'ignore', 2],
  })
  return project
}

function zodVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.zod
}

function runExample(project, source) {
  const imports = source.includes("'node:assert") ? '' : "import assert from 'node:assert/strict'\n"
  const { outputText } = ts.transpileModule(imports + source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  writeFileSync(join(project, 'example.mjs'), outputText)
  return outcome(spawnSync(process.execPath, ['example.mjs'], { cwd: project, encoding: 'utf8', timeout: 60_000 }))
}

function runCommand(project) {
  const command = join(project, 'node_modules/.bin/krmkit')
  const { stdout = '', ...rest } = spawnSync(command, ['--help'], { cwd: project, encoding: 'utf8', timeout: 60_000 })
  return rest.status === 0 && !stdout.includes('serve') ? ['--help does not list serve'] : outcome(rest)
}

function outcome({ status, stderr, signal }) {
  if (status === 0) return []
  return [signal === null ? String(stderr).trim().split('\n').slice(0, 8).join(' | ') : `ended by ${signal}`]
}
