/**
 * `npm run direct`: derives the direct forms (`x.direct.ts`) of modules of pausable functions (`x.ts`); see docs/internals/decisions/0011.
 *
 *     npm run direct                    all that exist
 *     npm run direct -- path/to/x.ts    a new one, too
 *     npm run direct -- --check         fails if one differs from what is derived
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { derive, directPath } from './direct/derive.ts'
import { SourceModules } from './direct/modules.ts'
import { root } from './lib/workspace.ts'

export function main(args: readonly string[]): void {
  const sources = directSources(args.filter((path) => !path.startsWith('--')))
  const modules = new SourceModules(sources)
  const before = new Map<string, string | undefined>()
  for (const path of [...sources].sort()) {
    const output = join(root, directPath(path))
    before.set(output, existsSync(output) ? readFileSync(output, 'utf8') : undefined)
    writeFileSync(output, derive(path, readFileSync(join(root, path), 'utf8'), modules))
  }
  const outputs = [...before.keys()]
  if (outputs.length > 0) format(outputs)
  const changed = outputs.filter((path) => readFileSync(path, 'utf8') !== before.get(path))
  if (!args.includes('--check')) {
    console.log(`${outputs.length} direct forms, ${changed.length} changed`)
    return
  }
  for (const path of changed) writeFileSync(path, before.get(path) ?? '')
  for (const path of changed) console.error(`${relative(root, path)} differs from what \`npm run direct\` derives`)
  process.exitCode = changed.length === 0 ? 0 : 1
}

/** The modules that have a direct form, and those of the paths, which get one; as paths from the root. */
function directSources(paths: readonly string[]): ReadonlySet<string> {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'packages/*.direct.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const existing = listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)))
  return new Set([
    ...existing.map((path) => path.replace(/\.direct\.ts$/, '.ts')),
    ...paths.map((path) => relative(root, join(process.cwd(), path))),
  ])
}

function format(files: readonly string[]): void {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  execFileSync(process.execPath, [biome, 'check', '--write', '--diagnostic-level=error', ...files], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
