import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder()

const run = (args: readonly string[], stdin = '') => runCommand(['convert', ...args], testTerminal({ stdin: () => stdin }))
const cronJob = '# nightly\napiVersion: batch/v1beta1 # old\nkind: CronJob\nmetadata: {name: a}\n'
const converted = cronJob.replace('v1beta1', 'v1')

describe('krmkit convert', () => {
  it('prints the result, and what was converted to the error stream', async () => {
    expect(await run(['-'], cronJob)).toMatchObject({
      out: converted,
      err: '-:2: CronJob a: batch/v1beta1 -> batch/v1\n',
      code: 0,
    })
    expect(await run(['-', '-q', '--release', '1.20'], converted)).toMatchObject({ out: cronJob, err: '', code: 0 })
  })

  it('writes files with --write, and leaves others alone', async () => {
    const [a, b] = [join(folder, 'a.yaml'), join(folder, 'b.json')]
    writeFileSync(a, cronJob)
    writeFileSync(b, '{"kind":"Pod",  "apiVersion":"v1"}')
    expect(await run([folder, '--write'])).toMatchObject({ out: '', code: 0 })
    expect([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')]).toEqual([converted, '{"kind":"Pod",  "apiVersion":"v1"}'])
  })

  it('joins the documents of several files', async () => {
    const [a, b] = [join(folder, 'x.yaml'), join(folder, 'y.yaml')]
    writeFileSync(a, 'a: 1')
    writeFileSync(b, 'b: 1\n')
    expect((await run([a, b])).out).toBe('a: 1\n---\nb: 1\n')
  })

  it('reports objects that cannot be converted, with position and reason', async () => {
    const policy = 'apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: p}\n'
    const { out, err, code } = await run(['-'], `${policy}---\n${cronJob}`)
    expect(out).toBe(`${policy}---\n${converted}`)
    expect(err).toContain(
      '-:1:13: error: PodSecurityPolicy p: apiVersion: policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25',
    )
    expect(code).toBe(1)
  })

  it('rejects --write with standard input, an invalid version, and unreadable files', async () => {
    expect(await run(['-', '--write'])).toMatchObject({ code: 2, err: expect.stringContaining('--write cannot be used with') })
    expect(await run(['-', '--to', 'v'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('It must be a group and version'),
    })
    expect((await run([join(folder, 'absent')])).code).toBe(2)
  })
})
