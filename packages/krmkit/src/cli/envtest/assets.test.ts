import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeAssets } from './assets.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-assets-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(path: string, directory = join(folder, "it's here")) {
  const program = join(folder, 'say.mjs')
  await writeFile(program, 'console.log(JSON.stringify(process.argv.slice(2)))')
  const options = { directory, node: process.execPath, program, etcd: program, controllers: 'a,b', path }
  return { directory, assets: await writeAssets(options) }
}

const says = (program: string, ...args: string[]) => JSON.parse(execFileSync(program, args, { encoding: 'utf8' })) as string[]

it('scripts pass their arguments on unchanged', async () => {
  const { directory } = await write('')
  expect(says(join(directory, 'kube-apiserver'), '--a=b c', "d'e")).toEqual([
    'kube-apiserver',
    '--controllers=a,b',
    '--a=b c',
    "d'e",
  ])
  expect(says(join(directory, 'etcd'), '--help')).toEqual(['--help'])
})

it('links the kubectl of the PATH, and removes the link without one', async () => {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'kubectl'), '#!/bin/sh\n', { mode: 0o755 })
  const { directory, assets } = await write(['', join(folder, 'empty'), bin].join(delimiter))
  expect(assets.kubectl).toBe(join(bin, 'kubectl'))
  expect(await readlink(join(directory, 'kubectl'))).toBe(join(bin, 'kubectl'))
  expect((await write(folder)).assets.kubectl).toBeUndefined()
  await expect(readlink(join(directory, 'kubectl'))).rejects.toMatchObject({ code: 'ENOENT' })
})

it('reports a folder that cannot be written', async () => {
  await writeFile(join(folder, 'file'), '')
  const failing = write('', join(folder, 'file', 'inside'))
  await expect(failing).rejects.toMatchObject({ name: 'CliError', code: 'FileFailed' })
  await expect(failing).rejects.toThrow(/^cannot write the programs for envtest: /)
})
