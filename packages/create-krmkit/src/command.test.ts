import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from './command.ts'

const root = mkdtempSync(join(tmpdir(), 'create-krmkit-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Runs the command; `answers` are entered one by one. */
async function run(args: readonly string[], { answers, env = {} }: { answers?: string[]; env?: Record<string, string> } = {}) {
  const output: string[] = []
  const errors: string[] = []
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    return answers?.shift() ?? ''
  }
  const code = await runCommand(args, {
    print: (line) => void output.push(line),
    fail: (line) => void errors.push(line),
    ...(answers === undefined ? {} : { ask }),
    env,
  })
  return { code, output: output.join('\n'), errors: errors.join('\n'), questions }
}

describe('npm create krmkit', () => {
  it('creates a project by flags and prints the next steps', async () => {
    const folder = join(root, 'flags')
    const { code, output } = await run([folder, '--template', 'operator', '--name', 'shop'])
    expect(code).toBe(0)
    expect(output).toContain(`Created ${folder} from the template operator`)
    expect(output).toContain('npm install\n  npm test')
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({ name: 'shop' })
  })

  it('asks for the folder and the template, by number or name, until the answer is valid', async () => {
    const { code, output, questions } = await run([], { answers: [join(root, 'asked'), '9', 'web', '3'] })
    expect(code).toBe(0)
    expect(questions).toEqual(['Folder (my-krmkit): ', ...Array(3).fill('Template (1 to 3): ')])
    expect(output).toContain('  2  operator ')
    expect(existsSync(join(root, 'asked/action.yml'))).toBe(true)
  })

  it('asks only for missing arguments', async () => {
    const { questions } = await run([join(root, 'half')], { answers: ['ci-linter'] })
    expect(questions).toEqual(['Template (1 to 3): '])
  })

  it.each([
    ['a missing folder', [], 'name the folder'],
    ['a missing template', ['x'], 'name a template with --template'],
    ['an unknown flag', ['x', '--color'], "Unknown option '--color'"],
    ['two folders', ['x', 'y'], 'one folder can be named'],
  ])('exits with 2 and prints the usage for %s', async (_, args, message) => {
    const { code, errors } = await run(args)
    expect(code).toBe(2)
    expect(errors).toContain(message)
    expect(errors).toContain('Usage: npm create krmkit')
  })

  it('exits with 1 and one sentence when the project cannot be created', async () => {
    const { code, errors } = await run([join(root, 'x'), '--template', 'web'])
    expect(code).toBe(1)
    expect(errors).toBe('create-krmkit: unknown template "web"; available: control-plane, operator, ci-linter')
  })

  it('reads the folder of packed packages from a flag or KRMKIT_TARBALLS', async () => {
    const byFlag = await run([join(root, 'x'), '-t', 'operator', '--tarballs', join(root, 'flag')])
    expect(byFlag.errors).toContain(join(root, 'flag'))
    const byVariable = await run([join(root, 'x'), '-t', 'operator'], { env: { KRMKIT_TARBALLS: join(root, 'variable') } })
    expect(byVariable.errors).toContain(join(root, 'variable'))
  })

  it('prints its help', async () => {
    const { code, output } = await run(['--help'])
    expect(code).toBe(0)
    for (const text of ['control-plane', 'operator', 'ci-linter', '--tarballs <folder>']) expect(output).toContain(text)
  })
})
