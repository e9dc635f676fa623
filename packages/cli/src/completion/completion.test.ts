import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { shells } from './scripts.ts'

const bash = spawnSync('bash', ['--version']).status === 0

/** The words that bash offers for the last word of a command line, which may be empty. */
async function offered(...words: string[]): Promise<string[]> {
  const { out } = await runCommand(['completion', 'bash'])
  const line = ['krmkit', ...words].map((word) => `'${word}'`).join(' ')
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _krmkit; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${out}\n${ask}`], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((each) => each !== '')
}

describe.skipIf(!bash)('krmkit completion bash (needs bash)', () => {
  it('offers commands', async () => {
    expect(await offered('va')).toEqual(['validate'])
    expect(await offered('')).toEqual(expect.arrayContaining(['serve', 'envtest', 'completion']))
    expect(await offered('')).not.toContain('kube-apiserver')
  })

  it('offers the flags and sub-commands of a command', async () => {
    expect(await offered('serve', '--secure')).toEqual(['--secure-port'])
    expect(await offered('storage', 'mig')).toEqual(['migrate'])
    expect(await offered('serve', '--storage', 'memory', '--secure')).toEqual(['--secure-port'])
  })

  it('offers the values of a flag, behind a space or an equals sign', async () => {
    expect(await offered('serve', '--storage', 'd')).toEqual(['durable'])
    expect(await offered('serve', '--storage', '=', 'd')).toEqual(['durable'])
    expect(await offered('serve', '--storage', '=')).toEqual(['memory', 'durable', 'etcd'])
  })
})

describe.each(shells)('krmkit completion %s', (shell) => {
  it('prints a script that the shell can read', async ({ skip }) => {
    const { out, code } = await runCommand(['completion', shell])
    expect(code).toBe(0)
    expect(out).toContain('migrate')
    if (spawnSync(shell, ['-c', 'true']).status !== 0) skip(`${shell} is not installed`)
    const { status, stderr } = spawnSync(shell, ['-n'], { input: out, encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})

it('refuses another shell with the shells that it knows', async () => {
  const { err, code } = await runCommand(['completion', 'tcsh'])
  expect(code).toBe(2)
  expect(err).toContain('Allowed choices are bash, zsh, fish.')
})
