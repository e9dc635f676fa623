/**
 * `npm run release` is a dry run: it builds and packs every package, checks each tarball, installs them in empty projects and runs the README
 * examples, the command, jest, the templates and the pages of docs/guide/tasks.md there. `npm run release -- --publish` also publishes. `--keep`
 * keeps the folder; `--tarballs <folder>` checks the tarballs of a kept folder instead of building.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPackages, run, toolArgs } from './lib/child.ts'
import { publishedPackages, root } from './lib/workspace.ts'
import { checkConsumers } from './release/consumers.ts'
import { installAll, runExamples } from './release/examples.ts'
import { checkPages } from './release/pages.ts'
import type { CheckResult, Packed } from './release/project.ts'
import { checkTarball, packAll, unpackAll } from './release/tarballs.ts'
import { checkTemplates } from './release/templates.ts'

export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { publish: { type: 'boolean' }, keep: { type: 'boolean' }, tarballs: { type: 'string' } },
  })
  const work = mkdtempSync(join(tmpdir(), 'krmkit-release-'))
  const report = new Report()
  try {
    const packages = values.tarballs === undefined ? buildAndPack(work) : unpackAll(resolve(values.tarballs))
    await checkAll(work, packages, report)
    if (report.failed === 0 && values.publish) {
      for (const { tarball } of packages) run('npm', ['publish', tarball, '--access', 'public', '--provenance'])
    }
  } finally {
    if (values.keep) console.log(`kept: ${work}`)
    else rmSync(work, { recursive: true, force: true })
  }
  console.log(`${report.passed} passed, ${report.failed} failed${values.publish ? '' : ' (dry run, nothing published)'}`)
  process.exitCode = report.failed === 0 ? 0 : 1
}

/** Prints each check and counts: a check that passed once, one that failed once for each of its problems. */
class Report {
  passed = 0
  failed = 0

  add({ name, problems }: CheckResult): void {
    if (problems.length === 0) this.passed++
    else this.failed += problems.length
    console.log(`${problems.length === 0 ? 'ok   ' : 'FAIL '} ${name}`)
    for (const problem of problems) console.log(`        ${problem}`)
  }
}

async function checkAll(work: string, packages: readonly Packed[], report: Report): Promise<void> {
  for (const each of packages) report.add({ name: `tarball ${each.manifest.name}`, problems: await checkTarball(each) })
  const project = installAll(work, packages)
  for (const { name, problems } of runExamples(project, packages)) report.add({ name: `example ${name}`, problems })
  for (const result of await checkConsumers(work, packages, project)) report.add(result)
  for (const result of await checkTemplates(work, packages)) report.add(result)
  for (const result of checkPages(work, packages)) report.add(result)
  report.add({ name: 'changesets', problems: unreleasedProblems(packages) })
}

function buildAndPack(work: string): Packed[] {
  // Outputs of renamed modules would stay in the tarballs.
  for (const name of publishedPackages()) rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true })
  buildPackages()
  run(process.execPath, toolArgs('bundle'))
  return packAll(work)
}

/** A release needs a changelog entry; packages are versioned together. */
function unreleasedProblems(packages: readonly Packed[]): string[] {
  const versions = new Set(packages.map(({ manifest }) => manifest.version))
  const problems = versions.size === 1 ? [] : [`packages have different versions: ${[...versions].join(', ')}`]
  if (!existsSync(join(root, 'CHANGELOG.md'))) problems.push('CHANGELOG.md is missing')
  return problems
}
