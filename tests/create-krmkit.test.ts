import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@krmkit/schema'
import { createProject } from 'create-krmkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from './source-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

/**
 * The template `ci-linter` with the command of this checkout. The tests of the other templates run where they stand; `npm run release`
 * runs all of them with packed packages.
 */

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly runs: {
    readonly steps: readonly { readonly name?: string; readonly run?: string; readonly env?: Record<string, string> }[]
  }
}

const work = temporaryFolder()
const folder = join(work, 'linter')

const run = (command: string, args: readonly string[], env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } })
  return { status, output: `${stdout}${stderr}` }
}

beforeAll(() => {
  const bundled = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), 'bundle'], { stdio: ['ignore', 2, 2] })
  expect(bundled.status).toBe(0)
  createProject({ folder, template: 'ci-linter' })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}, 300_000)

describe('the template ci-linter', () => {
  it('passes its tests', () => {
    // Continuous integration sets both, which color libraries take for a terminal.
    const { status, output } = run('npm', ['test'], { CI: 'true', FORCE_COLOR: '1' })
    expect(status, output).toBe(0)
    expect(output).toMatch(/# pass 3\b|ℹ pass 3\b/)
  })

  it('has an action that validates its paths and annotates findings', () => {
    const action = parseYaml(readFileSync(join(folder, 'action.yml'), 'utf8')).value as unknown as Action
    const step = action.runs.steps.find(({ name }) => name === 'Validate')
    const validate = (inputs: Record<string, string>) => {
      const values: Record<string, string> = { 'github.action_path': folder }
      for (const [name, input] of Object.entries(action.inputs)) values[`inputs.${name}`] = inputs[name] ?? input.default
      const env = Object.entries(step?.env ?? {}).map(([name, text]) => [
        name,
        text.replace(/\$\{\{ (\S+) \}\}/g, (_, key: string) => values[key] ?? ''),
      ])
      return run('bash', ['-euo', 'pipefail', '-c', step?.run ?? 'false'], Object.fromEntries(env) as Record<string, string>)
    }
    const clean = validate({})
    expect(clean.output).toContain(`::add-matcher::${folder}/problem-matcher.json`)
    expect(clean.status, clean.output).toBe(0)
    const broken = validate({ paths: 'deploy test/broken.yaml', release: '1.29' })
    expect(broken.status).toBe(1)
    expect(broken.output).toMatch(/^test\/broken\.yaml:7:\d+: error: /m)
  })
})
