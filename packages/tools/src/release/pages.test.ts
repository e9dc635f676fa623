import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { blocksOf, notRun, shellLines, taskPages } from './pages.ts'

describe('the release check of the pages', () => {
  it('leaves out only blocks that exist', () => {
    const names = new Set(taskPages().flatMap((page) => blocksOf(page).map(({ name }) => name)))
    expect(Object.keys(notRun).filter((name) => !names.has(name))).toEqual([])
  })

  it('runs servers in the background and watches for a moment', () => {
    const text =
      'npx krmkit serve \\\n  --storage durable # kept\nk get pods -w\nkrmkit serve --help\nnode a.ts\nkubectl get pods # all\n'
    expect(shellLines(text).split('\n')).toEqual([
      'in_background npx krmkit serve --storage durable --secure-port=0',
      "for_a_moment 'k get pods -w'",
      'krmkit serve --help',
      'in_background node a.ts',
      'kubectl get pods # all',
      '',
    ])
  })

  it.each([
    ['a command that fails', 'false\n'],
    ['other output', "printf '%s\\n' expected >want.txt\nprints want.txt 'echo other'\n"],
    ['a failing command with the right output', "echo same >want.txt\nprints want.txt 'echo same; exit 2'\n"],
    ['a watch that ends', "for_a_moment 'echo end'\n"],
    ['a server that does not start', "in_background bash -c 'echo no; exit 1'\n"],
  ])('fails for %s', (_, commands) => expect(runShell(commands).status).not.toBe(0))

  it('accepts other times and findings, and ends the servers that it starts', () => {
    const server = "in_background bash -c 'echo $$ >pid; echo http://127.0.0.1; exec sleep 60'\n"
    const times = "echo at 2026-01-01T00:00:00Z >want.txt\nprints want.txt 'echo at 2025-05-05T05:05:05Z; exit 1'\n"
    const { status, stderr, pid } = runShell(server + times)
    expect([status, stderr]).toEqual([0, ''])
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})

/** Runs commands with the functions of pages.sh. @returns `pid` is what the commands wrote to the file of that name */
function runShell(commands: string) {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-pages-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const functions = readFileSync(new URL('pages.sh', import.meta.url), 'utf8')
  writeFileSync(join(folder, 'page.sh'), `${functions}\n${commands}`)
  const { status, stderr } = spawnSync('bash', ['page.sh'], { cwd: folder, encoding: 'utf8' })
  const pid = join(folder, 'pid')
  return { status, stderr, pid: existsSync(pid) ? Number(readFileSync(pid, 'utf8')) : 0 }
}
