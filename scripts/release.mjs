#!/usr/bin/env node
// `npm run release` is a dry run: it builds and packs every package, checks each tarball, installs them in empty projects and runs the README
// examples, the command, jest, the templates and the pages of docs/guide/tasks.md there. `npm run release -- --publish` also publishes. `--keep` keeps the folder;
// `--tarballs <folder>` checks the tarballs of a kept folder instead of building.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkConsumers } from './release/consumers.mjs'
import { checkTemplates } from './release/templates.mjs'
import { root, setup } from './setup.mjs'

const { values } = parseArgs({
  options: { publish: { type: 'boolean' }, keep: { type: 'boolean' }, tarballs: { type: 'string' } },
})

setup()
// These import packages that the setup installs.
const { installAll, runExamples } = await import('./release/examples.mjs')
const { checkPages } = await import('./release/pages.mjs')
const { checkTarball, packAll, unpackAll } = await import('./release/tarballs.mjs')
const work = mkdtempSync(join(tmpdir(), 'krmkit-release-'))
let passed = 0
const failures = []

/** Records the problems of one check. */
function check(name, problems) {
  if (problems.length === 0) passed++
  else failures.push(...problems.map((problem) => `${name}: ${problem}`))
  console.log(`${problems.length === 0 ? 'ok   ' : 'FAIL '} ${name}`)
  for (const problem of problems) console.log(`        ${problem}`)
}

try {
  const packages = values.tarballs === undefined ? buildAndPack() : unpackAll(resolve(values.tarballs))
  for (const each of packages) check(`tarball ${each.manifest.name}`, await checkTarball(each))
  const project = installAll(work, packages)
  for (const { name, problems } of runExamples(project, packages)) check(`example ${name}`, problems)
  for (const { name, problems } of await checkConsumers(work, packages, project)) check(name, problems)
  for (const { name, problems } of await checkTemplates(work, packages)) check(name, problems)
  for (const { name, problems } of checkPages(work, packages)) check(name, problems)
  check('changesets', unreleasedProblems(packages))
  if (failures.length === 0 && values.publish) {
    for (const { tarball } of packages) run('npm', ['publish', tarball, '--access', 'public', '--provenance'])
  }
} finally {
  if (values.keep) console.log(`kept: ${work}`)
  else rmSync(work, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failures.length} failed${values.publish ? '' : ' (dry run, nothing published)'}`)
process.exitCode = failures.length === 0 ? 0 : 1

function buildAndPack() {
  // Outputs of renamed modules would stay in the tarballs.
  for (const folder of packageFolders()) rmSync(join(folder, 'dist'), { recursive: true, force: true })
  run('npx', ['tsc', '-b', ...packageFolders().map((folder) => `${folder}/tsconfig.json`)])
  run(process.execPath, [join(root, 'scripts/bundle.mjs')])
  return packAll(work)
}

function packageFolders() {
  const folder = join(root, 'packages')
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((each) => existsSync(join(each, 'tsconfig.json')))
}

/** A release needs a changelog entry; packages are versioned together. */
function unreleasedProblems(packages) {
  const versions = new Set(packages.map(({ manifest }) => manifest.version))
  const problems = versions.size === 1 ? [] : [`packages have different versions: ${[...versions].join(', ')}`]
  if (!existsSync(join(root, 'CHANGELOG.md'))) problems.push('CHANGELOG.md is missing')
  return problems
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed`)
}
