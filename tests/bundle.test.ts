import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { handWrittenFiles, textOf } from './hand-written.ts'
import { root } from './source-files.ts'

/** How the bundled command is loaded. */

const codeCache = join(root, 'packages/tools/src/bundle/code-cache.cjs')

describe('the start of a server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-bundle-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("uses the code cache of Node's own modules", () => {
    const { sources } = handWrittenFiles()
    const modules = new Set<string>()
    for (const file of sources) {
      if (!/^packages\/(?!testing\/|tools\/|create-krmkit\/)[^/]+\/src\//.test(file) || /\.test\.ts$|\/testing\//.test(file))
        continue
      for (const [, name] of textOf(file).matchAll(/^import .* from '(node:[\w/]+)'/gm)) modules.add(name as string)
    }
    expect(modules).toContain('node:http2')
    copyFileSync(codeCache, join(folder, 'main.cjs'))
    writeFileSync(
      join(folder, 'krmkit.cjs'),
      `for (const name of ${JSON.stringify([...modules])}) require(name)\nconsole.log('done')`,
    )
    const env = { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: undefined, NODE_DEBUG_NATIVE: 'CODE_CACHE' }
    const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'main.cjs'), 'serve'], { encoding: 'utf8', env })
    expect(stdout).toContain('done')
    const lines = `${stdout}${stderr}`.split('\n')
    expect(lines.some((line) => line.includes('is accepted'))).toBe(true)
    expect(lines.filter((line) => line.includes('is rejected'))).toEqual([])
  })

  const isNode20 = process.versions.node.startsWith('20.')
  it.skipIf(!isNode20)('optimizes late, and soon once the server has used some processor time, with the same code cache', () => {
    const dir = mkdtempSync(join(folder, 'long-lived-'))
    copyFileSync(codeCache, join(dir, 'main.cjs'))
    writeFileSync(join(dir, 'krmkit.cjs'), "setTimeout(() => require('./late.cjs'), 1500)")
    writeFileSync(join(dir, 'late.cjs'), 'exports.late = true')
    const recorder = `
      const vm = require('node:vm'), v8 = require('node:v8'), { basename } = require('node:path')
      const set = v8.setFlagsFromString
      v8.setFlagsFromString = (flag) => (console.log(flag), set(flag))
      vm.Script = class extends vm.Script {
        constructor(code, options) {
          super(code, options)
          console.log(basename(options.filename), 'cached', this.cachedDataRejected === false)
        }
      }
      process.cpuUsage = () => ({ user: Number(process.env.USED), system: 0 })`
    writeFileSync(join(dir, 'recorder.cjs'), recorder)
    const run = (env: Record<string, string>) => {
      const args = ['-r', join(dir, 'recorder.cjs'), join(dir, 'main.cjs'), 'serve']
      const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', ...env } } as const
      return spawnSync(process.execPath, args, options).stdout.trim().split('\n')
    }
    const [late, soon] = ['--interrupt-budget=400000', '--interrupt-budget=135168']
    const first = [late, 'krmkit.cjs cached false', 'late.cjs cached false']
    expect(run({ USED: '9000000', KRMKIT_WRITE_CODE_CACHE: '1' })).toEqual(first)
    const cached = ['krmkit.cjs cached true', 'late.cjs cached true']
    expect(run({ USED: '900000' })).toEqual([late, ...cached])
    expect(run({ USED: '1900000' })).toEqual([late, cached[0], soon, late, cached[1], soon])
  })
})
