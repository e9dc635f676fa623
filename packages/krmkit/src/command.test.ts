import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'krmkit-command-'))
afterAll(() => rmSync(root, { recursive: true }))
const source = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string }

/** Copies the files of the command into a package folder. */
function install(folder: string): void {
  cpSync(join(source, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(source, 'package.json'), join(folder, 'package.json'))
}

/** Installs a stub of @krmkit/cli that prints its arguments. */
function installCli(folder: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"@krmkit/cli","type":"module","bin":{"krmkit":"./bin/main.js"}}')
  writeFileSync(join(folder, 'bin/main.js'), "console.log('cli', ...process.argv.slice(2))\nprocess.exitCode = 3\n")
}

/** Creates a folder with a stub of `npx` that runs the text. */
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

// The stub of npx is a POSIX shell script.
describe.skipIf(process.platform === 'win32')('the command of krmkit', () => {
  it('runs @krmkit/cli that is installed next to it', () => {
    const modules = join(root, 'flat/node_modules')
    install(join(modules, 'krmkit'))
    installCli(join(modules, '@krmkit/cli'))
    expect(run(join(modules, 'krmkit/bin/krmkit.mjs'), ['serve', '--help'])).toMatchObject({
      ...{ stdout: 'cli serve --help\n', stderr: '', status: 3 },
    })
  })

  it('runs @krmkit/cli of the project when packages are symbolic links', () => {
    const project = join(root, 'linked')
    install(join(project, 'store/krmkit/node_modules/krmkit'))
    installCli(join(project, 'store/cli/node_modules/@krmkit/cli'))
    mkdirSync(join(project, 'node_modules/@krmkit'), { recursive: true })
    symlinkSync('../store/krmkit/node_modules/krmkit', join(project, 'node_modules/krmkit'))
    symlinkSync('../../store/cli/node_modules/@krmkit/cli', join(project, 'node_modules/@krmkit/cli'))
    const { stdout, stderr } = run(join(project, 'node_modules/krmkit/bin/krmkit.mjs'), ['validate'])
    expect([stdout, stderr]).toEqual(['cli validate\n', ''])
  })

  it('otherwise prints how to install it, and runs the one that npx installs', () => {
    install(join(root, 'alone'))
    installCli(join(root, 'cache/node_modules/@krmkit/cli'))
    const path = ['/usr/bin', join(root, 'cache/node_modules/.bin')].join(delimiter)
    const env = npxOf('npx-installs', `for arg in "$@"; do echo "[$arg]" >&2; done\necho '${path}'`)
    const { stdout, stderr, status } = run(join(root, 'alone/bin/krmkit.mjs'), ['validate', 'a b.yaml'], env)
    expect(stdout).toBe('cli validate a b.yaml\n')
    expect(stderr).toBe(`${hint}[--yes]\n[--package=@krmkit/cli@${version}]\n[-c]\n[node -p process.env.PATH]\n`)
    expect(status).toBe(3)
  })

  it.each([
    ['fails', 'echo offline >&2\nexit 7', 'offline\nkrmkit: npx has not installed the command\n', 7],
    ['installs nothing', 'echo /usr/bin', 'krmkit: npx has not installed the command\n', 1],
  ])('reports an npx that %s', (name, text, printed, code) => {
    install(join(root, name))
    const { stdout, stderr, status } = run(join(root, name, 'bin/krmkit.mjs'), [], npxOf(`npx ${name}`, text))
    expect(stdout).toBe('')
    expect(stderr).toBe(`${hint}${printed}`)
    expect(status).toBe(code)
  })

  it('reports a missing npx', () => {
    install(join(root, 'without'))
    const { stderr, status } = run(join(root, 'without/bin/krmkit.mjs'), [], { PATH: join(root, 'nothing') })
    expect(stderr).toBe(`${hint}krmkit: npx has not installed the command: spawnSync npx ENOENT\n`)
    expect(status).toBe(1)
  })
})
