import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { type CheckResult, checkDurableStorage, checkNode } from './checks.ts'

const folder = temporaryFolder({ perTest: true })

/** The result of each check by its name, and the exit code. */
async function doctor(...flags: string[]) {
  const { out, code } = await runCommand(['doctor', '-o', 'json', `--data-dir=${folder}/data`, '--secure-port=0', ...flags])
  const results = JSON.parse(out) as CheckResult[]
  return { code, of: (name: string) => results.find((each) => each.name === name) }
}

it('finds that a server can start, and creates nothing', async () => {
  const { code, of } = await doctor()
  expect(code).toBe(0)
  for (const name of ['krmkit', 'Node', 'data folder', 'kubeconfig', 'port', 'lmdb'])
    expect(of(name)).toMatchObject({ result: 'ok' })
  expect(await readdir(folder)).toEqual([])
})

it('finds a port and a kubeconfig of a running server', async () => {
  const log = { info: () => undefined, error: () => undefined }
  const serving = await serve(await serveOptions(`${folder}/data`), log)
  try {
    const { code, of } = await doctor(`--secure-port=${new URL(serving.url).port}`)
    expect(code).toBe(1)
    expect(of('port')).toMatchObject({ result: 'failed', advice: expect.stringContaining('--secure-port') })
    expect(of('kubeconfig')).toMatchObject({ result: 'warning', detail: expect.stringContaining(`${serving.url} is running`) })
  } finally {
    await serving.close()
  }
})

it('finds a data folder that cannot be made', async () => {
  await writeFile(join(folder, 'data'), '')
  const { code, of } = await doctor(`--data-dir=${folder}/data/below`)
  expect(code).toBe(1)
  expect(of('data folder')).toMatchObject({ result: 'failed', detail: `${folder}/data is not a folder` })
})

it('finds durable storage that does not work, which leaves the others', async () => {
  const missing = checkDurableStorage(() => Promise.reject(new Error('lmdb cannot be loaded')))
  expect(await missing).toMatchObject({
    result: 'warning',
    detail: 'lmdb cannot be loaded',
    advice: expect.stringContaining('memory'),
  })
})

it('finds an old Node', () => {
  expect(checkNode('18.20.0')).toMatchObject({ result: 'failed', advice: 'install Node 20 or later' })
  expect(checkNode('24.1.0')).toMatchObject({ result: 'ok' })
})

it('prints a table of the results with what to do', async () => {
  await writeFile(join(folder, 'data'), '')
  const { out } = await runCommand(['doctor', `--data-dir=${folder}/data`, '--secure-port=0'])
  expect(out).toMatch(/^ok {7}krmkit {7}0\.0\.0, serves Kubernetes 1\.33\n/)
  expect(out).toMatch(/failed {3}data folder {2}.* is not a folder\n {22}choose another folder with --data-dir\n/)
})
