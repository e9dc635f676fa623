import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { testTerminal } from './offline/testing/test-terminal.ts'
import { createProgram } from './program.ts'
import type { ServeOptions } from './serve-options.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })

/** The options of `serve` with a file of flags. */
async function options(text: string, ...flags: string[]): Promise<ServeOptions | undefined> {
  const path = join(folder, 'flags.yaml')
  await writeFile(path, text)
  let given: ServeOptions | undefined
  const serve = async (parsed: ServeOptions) => {
    given = parsed
  }
  await createProgram({ terminal: testTerminal(), serve }).parseAsync(['serve', `--config=${path}`, ...flags], { from: 'user' })
  return given
}

const file = `
secure-port: 0
storage: durable
request-timeout: 1m30s
anonymous-auth: false
runtime-config: [api/all=true, batch/v1=false]
feature-gates:
  AllBeta: true
  AllAlpha: false
`

it('sets flags from a file', async () => {
  expect(await options(file)).toMatchObject({
    ...{ securePort: 0, storage: 'durable', requestTimeout: 90_000, anonymousAuth: false },
    runtimeConfig: ['api/all=true', 'batch/v1=false'],
    featureGates: { AllBeta: true, AllAlpha: false },
    explicit: expect.arrayContaining(['securePort', 'featureGates']),
    flagValues: { 'secure-port': '0' },
  })
})

it('prefers the command line, flag by flag', async () => {
  const given = await options(file, '--secure-port=7443', '--runtime-config=apps/v1=false')
  expect(given).toMatchObject({ securePort: 7443, storage: 'durable', runtimeConfig: ['apps/v1=false'] })
})

it.each([
  ['secure-prot: 1', 'unknown flag "secure-prot"; did you mean secure-port?'],
  ['nonsense-without-equal: 1', 'unknown flag "nonsense-without-equal"'],
  ['config: other.yaml', 'unknown flag "config"'],
  ['secure-port: 70000', 'secure-port: It must be a whole number between 0 and 65535.'],
  ['storage: files', 'storage: Allowed choices are memory, durable, etcd.'],
  ['secure-port: null', 'secure-port must be a text, a number, a boolean'],
  ['- secure-port', 'must be an object whose members are flags'],
  ['a: [', 'is not YAML'],
  ['v: 1\nv: 2', 'key "v" already set in map'],
])('refuses %j', async (text, sentence) => {
  await expect(options(text)).rejects.toMatchObject({ name: 'CliError', message: expect.stringContaining(sentence) })
})

it('refuses a file that is missing', async () => {
  const program = createProgram({ terminal: testTerminal(), serve: async () => undefined })
  const refused = { code: 'FileFailed', message: expect.stringContaining('--config: cannot read') }
  await expect(program.parseAsync(['serve', '--config=/missing.yaml'], { from: 'user' })).rejects.toMatchObject(refused)
})
