import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'krmkit-command-'))
afterAll(() => rmSync(root, { recursive: true }))
const source = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string }

/** The files of a package that the command consists of. */
function install(folder: string): void {
  cpSync(join(source, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(source, 'package.json'), join(folder, 'package.json'))
}

/** A stand-in for @krmkit/cli that prints its arguments. */
function installCli(folder: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"@krmkit/cli","type":"module","bin":{"krmkit":"./bin/main.js"}}')
  writeFileSync(join(folder, 'bin/main.js'), "console.log('cli', ...process.argv.slice(2))\nprocess.exitCode = 3\n")
}

/** A folder with the program `npx`, which runs the text. */
function npxOf(name: string, text: string): Record<string, string> {
  const folder = join(root, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return { PATH: [folder, dirname(process.execPath), process.env['PATH']].join(delimiter) }
}

const run = (file: string, args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', env: { ...process.env, ...env } })

const hint = `krmkit: the command is the package @krmkit/cli: \`npm install -D @krmkit/cli\`, or \`npx @krmkit/cli\` without installation
krmkit: it is not installed here; starting it by npx
`

// The stand-in for npx is a script of a POSIX shell.
describe.skipIf(process.platform === 'win32')('the command of krmkit', () => {
  it('runs @krmkit/cli that is installed beside it', () => {
    const modules = join(root, 'flat/node_modules')
    install(join(modules, 'krmkit'))
    installCli(join(modules, '@krmkit/cli'))
    expect(run(join(modules, 'krmkit/bin/krmkit.mjs'), ['serve', '--help'])).toMatchObject({
      ...{ stdout: 'cli serve --help\n', stderr: '', status: 3 },
    })
  })

  it('runs @krmkit/cli of the project where packages are links', () => {
    const project = join(root, 'linked')
    install(join(project, 'store/krmkit/node_modules/krmkit'))
    installCli(join(project, 'store/cli/node_modules/@krmkit/cli'))
    mkdirSync(join(project, 'node_modules/@krmkit'), { recursive: true })
    symlinkSync('../store/krmkit/node_modules/krmkit', join(project, 'node_modules/krmkit'))
    symlinkSync('../../store/cli/node_modules/@krmkit/cli', join(project, 'node_modules/@krmkit/cli'))
    const { stdout, stderr } = run(join(project, 'node_modules/krmkit/bin/krmkit.mjs'), ['validate'])
    expect([stdout, stderr]).toEqual(['cli validate\n', ''])
  })

  it('otherwise says how to get it, and starts the same version by npx', () => {
    install(join(root, 'alone'))
    const env = npxOf('npx-prints', 'for arg in "$@"; do echo "[$arg]"; done; exit 7')
    const { stdout, stderr, status } = run(join(root, 'alone/bin/krmkit.mjs'), ['validate', 'a b.yaml'], env)
    expect(stdout).toBe(`[--yes]\n[@krmkit/cli@${version}]\n[validate]\n[a b.yaml]\n`)
    expect(stderr).toBe(hint)
    expect(status).toBe(7)
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('forwards %s to npx', async (signal) => {
    const folder = `signalled-${signal}`
    install(join(root, folder))
    const env = npxOf(`npx-${signal}`, `trap 'echo stopped; exit 5' ${signal.slice(3)}\necho ready\nwhile :; do sleep 0.1; done`)
    const child = spawn(process.execPath, [join(root, folder, 'bin/krmkit.mjs')], {
      ...{ env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] },
    })
    const exited = once(child, 'exit')
    const printed: string[] = []
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (printed.push(text) === 1) child.kill(signal)
    })
    expect(await exited).toEqual([5, null])
    expect(printed.join('')).toBe('ready\nstopped\n')
  })

  it('reports a missing npx', () => {
    install(join(root, 'without'))
    const { stderr, status } = run(join(root, 'without/bin/krmkit.mjs'), [], { PATH: join(root, 'nothing') })
    expect(stderr).toBe(`${hint}krmkit: npx cannot be started: spawn npx ENOENT\n`)
    expect(status).toBe(1)
  })
})
