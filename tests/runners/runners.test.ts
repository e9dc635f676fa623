import { spawn } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../source-files.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The fixtures in node:test, in a project with the packages as plain JavaScript. `npm run release` tries jest with the packed packages. */

const entries = {
  '@krmkit/testing': 'packages/testing/src/index.ts',
  '@krmkit/kinds/core/v1': 'packages/kinds/src/group-versions/core-v1.generated.ts',
}

const project = temporaryFolder()
beforeAll(async () => {
  const modules = join(project, 'node_modules/@krmkit')
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name.replaceAll('/', '-').slice(1), join(root, path)]),
    ),
    platform: 'node',
    transform: { target: 'node20' },
    external: ['lmdb'],
    resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
    logLevel: 'silent',
  })
  await bundle.write({ dir: join(modules, 'bundle'), format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' })
  await bundle.close()
  await copyFile(join(root, 'tests/runners/node-test.mjs'), join(project, 'cluster.test.mjs'))
  for (const [name, exported] of [
    ['testing', { '.': '../bundle/krmkit-testing.mjs' }],
    ['kinds', { './core/v1': '../bundle/krmkit-kinds-core-v1.mjs' }],
  ] as const) {
    await mkdir(join(modules, name))
    const files = Object.entries(exported).map(([path, target], i) => [path, target, `./entry-${i}.mjs`] as const)
    for (const [, target, file] of files) await writeFile(join(modules, name, file), `export * from '${target}'\n`)
    const exports = Object.fromEntries(files.map(([path, , file]) => [path, file]))
    await writeFile(join(modules, name, 'package.json'), JSON.stringify({ name: `@krmkit/${name}`, type: 'module', exports }))
  }
})

async function run(env: Readonly<Record<string, string>>): Promise<string> {
  const args = ['--test', '--test-reporter=tap', 'cluster.test.mjs']
  // Without the variable that tells a runner that it runs inside of another one.
  const { NODE_TEST_CONTEXT: _, ...own } = process.env
  const child = spawn(process.execPath, args, { cwd: project, env: { ...own, ...env } })
  return text(child.stdout)
}

describe('clusterPerTest', () => {
  it('gives each test of node:test a fork and a namespace', async () => {
    expect(await run({})).toContain('# pass 2\n# fail 0')
  })

  it('keeps the page of a failed test', async () => {
    expect(await run({ FAIL: '1' })).toContain('# pass 2\n# fail 1')
    expect(await readdir(join(project, 'pages'))).toEqual(['cluster-test-fails-3.html'])
    expect(await readFile(join(project, 'pages/cluster-test-fails-3.html'), 'utf8')).toContain('get configmaps \\"absent\\"')
  })
})
