import { describe, expect, it } from 'vitest'
import { plainCommand } from './plain-command.ts'

const shell = (script: string) => plainCommand(['/bin/sh', '-c', script])

describe('plain commands', () => {
  it.each([
    [['sleep', '5'], { durationMs: 5000, exitCode: 0, output: '' }],
    [['/bin/sleep', '1m', '0.5'], { durationMs: 60_500, exitCode: 0, output: '' }],
    [['sleep', 'infinity'], { durationMs: Number.POSITIVE_INFINITY, exitCode: 0, output: '' }],
    [['/bin/true'], { durationMs: 0, exitCode: 0, output: '' }],
    [['false'], { durationMs: 0, exitCode: 1, output: '' }],
    [['echo', 'a', 'b c'], { durationMs: 0, exitCode: 0, output: 'a b c\n' }],
    [['echo', '-n', 'a'], { durationMs: 0, exitCode: 0, output: 'a' }],
    [['sh', '-c', 'exit 3'], { durationMs: 0, exitCode: 3, output: '' }],
  ])('parses %j', (command, course) => {
    expect(plainCommand(command)).toEqual(course)
  })

  it.each([
    ['echo alive; sleep 10\nexit 2', { durationMs: 10_000, exitCode: 2, output: 'alive\n' }],
    ['exit 1; sleep 10', { durationMs: 0, exitCode: 1, output: '' }],
    ['exit', { durationMs: 0, exitCode: 0, output: '' }],
    ['false; exit', { durationMs: 0, exitCode: 1, output: '' }],
    ['false && echo a || echo b', { durationMs: 0, exitCode: 0, output: 'b\n' }],
    ['true && sleep 2', { durationMs: 2000, exitCode: 0, output: '' }],
    [`echo 'a;b' "c  d"`, { durationMs: 0, exitCode: 0, output: 'a;b c  d\n' }],
    ['\n  # waits\n  sleep 1\n\n', { durationMs: 1000, exitCode: 0, output: '' }],
  ])('parses the script %j', (script, course) => {
    expect(shell(script)).toEqual(course)
  })

  it.each([
    'exit $(( $RANDOM / 16384 ))',
    'while true; do sleep 1; done',
    'sleep 10; dd if=/dev/zero of=file',
    'echo done > /dev/termination-log',
    'sleep 5 &',
    "echo 'open",
    'A=1 sleep 5',
    'sleep soon',
    'exit soon',
    '',
  ])('does not parse the script %j', (script) => {
    expect(shell(script)).toBeUndefined()
  })

  it('does not parse other programs and shell flags', () => {
    for (const command of [[], ['nginx'], ['sh'], ['sh', '-ec', 'false'], ['sh', '/run.sh'], ['sleep']])
      expect(plainCommand(command)).toBeUndefined()
  })
})
