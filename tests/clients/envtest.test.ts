import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { goProgram } from './support/go-program.ts'
import { run } from './support/tool.ts'

/**
 * envtest with the programs of `krmkit envtest`, in a suite that is built once (`envtest/`). Skipped without Go or a module
 * proxy.
 */

const command = fileURLToPath(new URL('../../packages/cli/bin/krmkit.mjs', import.meta.url))
const runTool = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
const program = await goProgram('envtest')
const isMissing = program.missing !== undefined

const folder = temporaryFolder()

interface Step {
  readonly step: string
  readonly value: unknown
}

describe.skipIf(isMissing)(`envtest${isMissing ? ` (skipped: ${program.missing})` : ''}`, () => {
  let steps: ReadonlyMap<string, unknown>

  beforeAll(async () => {
    const bundled = await run(process.execPath, [runTool, 'bundle'])
    expect(bundled.code, bundled.stderr).toBe(0)
    const written = await run(process.execPath, [command, 'envtest', '--dir', join(folder, "it's"), '--print', 'path'])
    expect(written.code, written.stderr).toBe(0)
    const assets = written.stdout.trim()
    expect(assets).toBe(join(folder, "it's"))
    const env = { ...process.env, KUBEBUILDER_ASSETS: assets, TMPDIR: folder }
    const finished = await run(program.path, [], { env, timeoutMs: 120_000 })
    expect(finished.code, finished.stderr).toBe(0)
    const lines = finished.stdout.trim().split('\n')
    steps = new Map(lines.map((line) => JSON.parse(line) as Step).map(({ step, value }) => [step, value]))
  }, 240_000)

  it('starts, stops and restarts an empty server', () => {
    expect(steps.get('stopped')).toBe(true)
    expect(steps.get('started again')).toBe(0)
  })

  it('serves the definitions that it installs', () => expect(steps.get('default')).toBe(3))

  it('creates no objects in namespaces', () => expect(steps.get('config maps')).toBe(1))

  it('runs no controllers by default: status, dependents and namespaces stay as they are', () =>
    expect(steps.get('uncontrolled')).toBe('Terminating, 2 ready, 0 replica sets'))

  it('garbage-collects dependents with its controller', () => expect(steps.get('collected')).toBe('owned'))

  it('deletes namespaces with their controller', () => expect(steps.get('namespace gone')).toBe(true))

  it('authenticates and authorizes added users by certificate', () => {
    expect(steps.get('refused')).toBe(
      'configmaps is forbidden: User "visitor" cannot create resource "configmaps" in API group "" in the namespace "default"',
    )
  })
})
