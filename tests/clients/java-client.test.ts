import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { javaProgram } from './support/java-program.ts'
import { type ServerProcess, startServerProcess } from './support/server-process.ts'
import { run } from './support/tool.ts'

/**
 * Two Java clients, in a program that is built once (`java/`) and reports the result of each step. Skipped without Maven, Java 17
 * or a package repository.
 */

const program = await javaProgram()
const isMissing = program.missing !== undefined

const folder = temporaryFolder()
let server: ServerProcess | undefined
beforeAll(async () => {
  if (!isMissing) server = await startServerProcess(['--storage', 'memory', '--secure-port', '0', '--data-dir', folder])
})
afterAll(async () => {
  await server?.stop()
})

interface Step {
  readonly step: string
  readonly value?: unknown
  readonly failure?: string
}

/** The result of each step; a failure is its value. */
async function steps(client: string): Promise<Record<string, unknown>> {
  const args = ['-cp', program.classPath, 'example.Main', join(folder, 'admin.kubeconfig'), client]
  const finished = await run('java', args, { timeoutMs: 120_000 })
  const lines = finished.stdout
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const steps = lines.map((line) => JSON.parse(line) as Step)
  expect(finished.code, `${finished.stderr}\n${JSON.stringify(steps.at(-1))}`).toBe(0)
  return Object.fromEntries(steps.map(({ step, value, failure }) => [step, failure ?? value]))
}

describe.skipIf(isMissing)(`Java clients${isMissing ? ` (skipped: ${program.missing})` : ''}`, () => {
  it('fabric8: objects, all patches, watches over WebSocket, informers, custom resources, leader election', {
    timeout: 150_000,
  }, async () => {
    expect(await steps('fabric8')).toEqual({
      version: '33',
      namespace: 'done',
      create: 'done',
      edit: '2',
      patch: '3',
      'json patch': 1,
      apply: 'java',
      'create or replace': '9',
      conflict: 409,
      list: 2,
      pages: false,
      deployment: 'RollingUpdate',
      'strategic patch': 2,
      scale: 3,
      status: 2,
      refused: 'spec.containers',
      watch: 'ADDED w, MODIFIED w, DELETED w',
      informer: 25,
      definition: true,
      'custom object': '2',
      leader: true,
      gone: true,
    })
  })

  it('official client: generated, generic and dynamic calls, patches, discovery, informers', { timeout: 150_000 }, async () => {
    expect(await steps('official')).toEqual({
      namespace: 'done',
      create: 'done',
      apply: '2',
      'strategic patch': '{z=1}',
      missing: '404 true',
      discovery: true,
      generic: 2,
      dynamic: '{"z":"1"}',
      informer: 25,
      delete: true,
    })
  })
})
