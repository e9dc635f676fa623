import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder()

let made = 0
const file = (text: string): string => {
  const path = join(folder, `${made++}.yaml`)
  writeFileSync(path, text)
  return path
}
const run = (flags: readonly string[]) => runCommand(flags, testTerminal({}))

describe('conflicts of krmkit apply', () => {
  it('shows where long values of a conflict differ', async () => {
    const configMap = (end: string, label: string) =>
      file(
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'c', annotations: { note: `${'same '.repeat(60)}${end}` } },
          data: { text: `${'line\n'.repeat(80)}${label}` },
        }),
      )
    const first = await run(['apply', configMap('one', 'a  b'), '--field-manager=ci', '-o', 'json'])
    const { err } = await run(['apply', configMap('two', 'a b'), '--live', file(first.out), '--field-manager=ops'])
    expect(err).toContain('2 conflicts')
    const pairs = [...err.matchAll(/^ {4}live (.*), applied (.*)$/gm)].map(([, live = '', applied = '']) => [live, applied])
    expect(pairs).toHaveLength(2)
    for (const [live, applied] of pairs) expect(live).not.toBe(applied)
    expect(pairs.flat().sort()).toEqual([
      expect.stringMatching(/^\.\.\..*line\\na {2}b"$/),
      expect.stringMatching(/^\.\.\..*line\\na b"$/),
      expect.stringMatching(/^\.\.\..*same one"$/),
      expect.stringMatching(/^\.\.\..*same two"$/),
    ])
  })
})
