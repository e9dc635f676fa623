/**
 * Walks the pages of docs/guide/tasks.md with the packed packages: in an empty folder for each page its files are written, its programs run, and
 * its commands run in one shell. The marks of the code blocks decide:
 *
 *     ```ts             a program
 *     ```yaml a.yaml    a file (any language)
 *     ```sh             commands that succeed
 *     ```console        commands after `$ `, and what they print on both streams; times may differ
 *
 * `krmkit serve` and programs that serve run in the background until the next one starts or the page ends, on free ports where a flag sets it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, posix } from 'node:path'
import ts from 'typescript'
import { root } from '../lib/workspace.ts'
import { type CheckResult, createProject, type Packed, problemsOf, workspaceVersion } from './project.ts'

/** A fenced block of a page. */
export interface Block {
  /** Page, language, and number among the blocks of this language that are no files. */
  readonly name: string
  readonly language: string
  /** Name of the file that it shows; empty for a program or commands. */
  readonly title: string
  readonly text: string
}

interface Page {
  readonly file: string
  readonly blocks: readonly Block[]
}

/** Blocks of commands and programs that need more than the packages, by page and number among all blocks of that kind. */
export const notRun: Readonly<Record<string, string>> = {
  'docs/operate/storage.md ts 1': 'describes several processes',
  'docs/operate/storage.md ts 2': 'needs an etcd',
  'docs/operate/storage.md sh 1': 'needs an etcd',
  'docs/operate/storage.md sh 3': 'needs an etcd',
  'docs/operate/storage.md sh 4': 'needs an etcd',
  'docs/guide/envtest.md sh 1': 'needs a Go suite; tests/clients has one',
  'docs/operate/hardening.md sh 1': 'needs an account',
  'docs/operate/hardening.md sh 2': 'needs an account',
  'docs/operate/hardening.md sh 3': 'needs certificates and an address',
  'docs/operate/hardening.md sh 4': 'needs an account',
  'docs/operate/hardening.md sh 5': 'needs an account',
  'docs/operate/hardening.md sh 8': 'needs files in /etc',
  'docs/operate/hardening.md sh 9': 'needs a checkout',
}
/** Pages whose console blocks a test of the workspace runs, with servers and charts that it prepares. */
const ownTest = new Set(['docs/guide/will-my-cluster-upgrade-break-me.md'])
/** What the first page installs. */
const installed = ['krmkit', '@krmkit/cli', '@krmkit/kinds', 'zod']

export function checkPages(work: string, packed: readonly Packed[]): CheckResult[] {
  const pages = taskPages().map((file) => ({ file, blocks: blocksOf(file) }))
  const names = new Set([...installed, ...pages.flatMap(({ blocks }) => blocks.flatMap(installedBy))])
  const published = new Set(packed.map(({ manifest: { name } }) => name))
  const dependencies = Object.fromEntries([...names].map((name) => [name, published.has(name) ? '*' : workspaceVersion(name)]))
  const project = createProject(work, { name: 'pages', packed, manifest: { type: 'module', dependencies } })
  return pages.map((page) => ({ name: `page ${page.file}`, problems: checkPage(project, page) }))
}

/** The pages of docs/guide/tasks.md, each once. */
export function taskPages(): string[] {
  const rows = readFileSync(join(root, 'docs/guide/tasks.md'), 'utf8').match(/^\| \d+\. .*$/gm) ?? []
  const links = rows.flatMap((row) => [...row.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => posix.join('docs/guide', link)))
  return [...new Set(links)]
}

/** The fenced blocks of a page, a path from the root. */
export function blocksOf(file: string): Block[] {
  const counts = new Map<string, number>()
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(([, language = '', title = '', body = '']) => {
    const number = (counts.get(language) ?? 0) + (title === '' ? 1 : 0)
    counts.set(language, number)
    return { name: `${file} ${language} ${number}`, language, title, text: body }
  })
}

function installedBy({ language, text }: Block): string[] {
  if (language !== 'sh') return []
  const lines = [...text.matchAll(/^npm install (.*)$/gm)].map(([, rest = '']) => rest.replace(/#.*/, ''))
  return lines.flatMap((line) => line.split(/\s+/).filter((word) => word !== '' && !word.startsWith('-')))
}

function checkPage(project: string, { file, blocks }: Page): string[] {
  const folder = join(project, file.replace(/\W/g, '-'))
  mkdirSync(folder)
  const files = ownTest.has(file) ? [] : blocks.filter(({ title }) => title !== '')
  for (const { title, text } of files) {
    mkdirSync(join(folder, dirname(title)), { recursive: true })
    writeFileSync(join(folder, title), text)
  }
  // The examples of the READMEs of packages run elsewhere, with what those READMEs assume.
  const programs = file.startsWith('docs/') ? blocks.filter(({ language, title }) => language === 'ts' && title === '') : []
  const problems = programs.filter(isProgram).flatMap((block) => runProgram(folder, block))
  return [...problems, ...runCommands(project, folder, ownTest.has(file) ? [] : blocks)]
}

/** Tests run in their runner: tests/docs/guides.test.ts does it. */
function isProgram({ name, text }: Block): boolean {
  return !(name in notRun) && !/ from 'vitest'$/m.test(text)
}

/** Runs a program as the pages say, `node example.ts`, where Node has its syntax: types from 22.18 on, `await using` from 24 on. */
function runProgram(folder: string, { name, text }: Block): string[] {
  if (runsTypeScript() && Number.parseInt(process.versions.node, 10) >= 24) {
    const program = `${name.replace(/\W/g, '-')}.ts`
    writeFileSync(join(folder, program), text)
    return problemsOf(process.execPath, [program], { cwd: folder })
  }
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const program = `${name.replace(/\W/g, '-')}.mjs`
  writeFileSync(join(folder, program), ts.transpileModule(text, { compilerOptions }).outputText)
  return problemsOf(process.execPath, [program], { cwd: folder })
}

function runCommands(project: string, folder: string, blocks: readonly Block[]): string[] {
  const parts = blocks.flatMap((block) => {
    if (block.title !== '' || block.name in notRun) return []
    if (block.language === 'sh') return [shellLines(block.text)]
    return block.language === 'console' ? [consoleLines(folder, block)] : []
  })
  if (parts.length === 0) return []
  const newerNode = nodeFolder()
  const canRun = runsTypeScript() || newerNode !== undefined
  if (!canRun && parts.some((part) => /\bnode \S+\.ts$/m.test(part)))
    return ['the page needs a Node that runs TypeScript: `npm run runtimes` installs one']
  const functions = readFileSync(join(root, 'packages/tools/src/release/pages.sh'), 'utf8')
  writeFileSync(join(folder, 'page.sh'), `${functions}\n${parts.join('\n')}\n`)
  const path = [newerNode, join(project, 'node_modules/.bin'), process.env.PATH].filter(Boolean).join(delimiter)
  return problemsOf('bash', ['page.sh'], { cwd: folder, env: { PATH: path, KUBECONFIG: '' } })
}

/** Commands that do not end run in the background, or for a moment. */
export function shellLines(text: string): string {
  const lines = text.replace(/\\\n\s*/g, '').split('\n')
  return lines
    .map((line) => {
      const command = line.replace(/\s+#.*$/, '')
      if (/^(npx )?krmkit serve\b(?!.*--help)/.test(command)) return `in_background ${command} --secure-port=0`
      if (/^node \S+\.ts$/.test(command)) return `in_background ${command}`
      return /(--watch|-w)$/.test(command) ? `for_a_moment ${quoted(command)}` : line
    })
    .join('\n')
}

function consoleLines(folder: string, { name, text }: Block): string {
  const commands = text.split(/^\$ /m).slice(1)
  return commands
    .map((each, index) => {
      const [command = '', ...printed] = each.split('\n')
      const expected = `${name.replace(/\W/g, '-')}-${index}.txt`
      writeFileSync(join(folder, expected), printed.join('\n'))
      return `prints ${expected} ${quoted(command)}`
    })
    .join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The folder of a Node that runs TypeScript, if that of this process does not: `npm run runtimes` installs one. */
function nodeFolder(): string | undefined {
  if (runsTypeScript()) return undefined
  const folder = join(root, 'tests/runtimes/node_modules/node-24/bin')
  return existsSync(folder) ? folder : undefined
}

/** Whether Node runs TypeScript, which types of older versions do not have. */
function runsTypeScript(): boolean {
  return 'typescript' in process.features && process.features.typescript !== false
}
