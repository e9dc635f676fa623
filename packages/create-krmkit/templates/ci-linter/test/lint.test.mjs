import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const lint = (...paths) => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'lint', '--', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe('npm run lint', () => {
  it('accepts the manifests in deploy', () => {
    const { status, stdout } = lint('deploy')
    assert.equal(status, 0, stdout)
  })

  it('finds every mistake, with its line', () => {
    const { status, stdout } = lint('test/broken.yaml')
    assert.equal(status, 1)
    const lines = stdout.split('\n').filter((line) => line.startsWith('test/'))
    const rules = lines.map((line) => /^test\/broken\.yaml:(\d+):.* \[(\S+)\]$/.exec(line)?.slice(1).join(' '))
    for (const rule of ['7 type', '16 unknown-field', '18 removed-version', '30 invalid'])
      assert.ok(rules.includes(rule), `${rule}: ${stdout}`)
  })

  it('prints lines that the problem matcher of the action reads', () => {
    const matcher = JSON.parse(readFileSync(`${root}/problem-matcher.json`, 'utf8')).problemMatcher[0]
    const [{ regexp, ...groups }] = matcher.pattern
    const found = lint('test/broken.yaml')
      .stdout.split('\n')
      .flatMap((line) => new RegExp(regexp).exec(line) ?? [])
    assert.ok(found.length > 0)
    const first = new RegExp(regexp).exec(found[0])
    assert.deepEqual(Object.fromEntries(Object.entries(groups).map(([name, index]) => [name, first[index]])), {
      file: 'test/broken.yaml',
      line: '7',
      column: first[groups.column],
      severity: 'error',
      message: first[groups.message],
      code: 'type',
    })
  })
})
