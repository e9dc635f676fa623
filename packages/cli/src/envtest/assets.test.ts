import { execFileSync } from 'node:child_process'
import { mkdir, readlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { assetsName, writeAssets } from './assets.ts'

const folder = temporaryFolder({ perTest: true })

interface Written {
  readonly directory?: string
  readonly emulatedVersion?: string
}

async function write(path: string, { directory = join(folder, "it's here"), emulatedVersion }: Written = {}) {
  const program = join(folder, 'say.mjs')
  await writeFile(program, 'console.log(JSON.stringify(process.argv.slice(2)))')
  const options = { directory, node: process.execPath, program, etcd: program, controllers: 'a,b', emulatedVersion, path }
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

it('scripts pass the emulated release before the flags of the suite', async () => {
  const { directory } = await write('', { emulatedVersion: '1.30' })
  expect(says(join(directory, 'kube-apiserver'), '--a')).toEqual([
    'kube-apiserver',
    '--controllers=a,b',
    '--emulated-version=1.30',
    '--a',
  ])
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
  const failing = write('', { directory: join(folder, 'file', 'inside') })
  await expect(failing).rejects.toMatchObject({ name: 'CliError', code: 'FileFailed' })
  await expect(failing).rejects.toThrow(/^cannot write the programs for envtest: /)
})

it('names the folder of the cache by version, checkout, Node executable and controllers', () => {
  const started = { node: '/bin/node', program: '/a/bin/krmkit.mjs', etcd: '/a/bin/etcd.mjs', controllers: 'a' }
  const name = assetsName('1.0.0', started)
  expect(name).toMatch(/^1\.0\.0-[0-9a-f]{12}$/)
  expect(assetsName('1.0.0', { ...started })).toBe(name)
  const changes = [{ node: '/node' }, { program: '/b/bin/krmkit.mjs' }, { controllers: 'a,b' }, { emulatedVersion: '1.30' }]
  const others = changes.map((change) => assetsName('1.0.0', { ...started, ...change }))
  expect(new Set([name, ...others, assetsName('1.0.1', started)]).size).toBe(6)
})
