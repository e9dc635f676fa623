import { readFile } from 'node:fs/promises'
import { fakeClock } from '@krmkit/meta'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ExecConfig } from './exec-config.ts'
import { execCredentials } from './exec-plugin.ts'
import { type CommandOptions, type CommandOutcome, runCommand } from './run-command.ts'

const group = 'client.authentication.k8s.io'
const config: ExecConfig = {
  command: 'get-token',
  args: ['--now'],
  env: [{ name: 'MORE', value: 'x' }],
  apiVersion: `${group}/v1`,
  installHint: 'Get it at https://example.com',
  provideClusterInfo: false,
  interactiveMode: 'IfAvailable',
}
const answer = (status: object | undefined, apiVersion = `${group}/v1`, kind = 'ExecCredential') =>
  JSON.stringify({ kind, apiVersion, ...(status === undefined ? {} : { status }) })

type Run = { command: string; args: readonly string[]; options: CommandOptions }
function setup(outputs: (string | CommandOutcome)[], more: Partial<ExecConfig> = {}, hasTerminal = false) {
  const runs: Run[] = []
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const source = execCredentials(
    { ...config, ...more },
    {
      cluster: { server: 'https://host', config: { audience: 'a' } },
      env: { HOME: '/home/me', MORE: 'replaced' },
      infoName: 'KUBERNETES_EXEC_INFO',
      clock,
      hasTerminal: () => hasTerminal,
      run: async (command, args, options) => {
        runs.push({ command, args, options })
        const output = outputs.length > 1 ? outputs.shift()! : outputs[0]!
        return typeof output === 'string' ? { kind: 'done', output } : output
      },
    },
  )
  const info = (index = 0) => JSON.parse(runs[index]!.options.env.KUBERNETES_EXEC_INFO ?? '')
  return { source, runs, clock, info }
}

describe('execCredentials', () => {
  it('P235 P266 runs the command with its arguments and environment, and takes its token', async () => {
    const { source, runs } = setup([answer({ token: 'secret' })])
    expect(await source.get()).toEqual({ token: 'secret' })
    expect(runs[0]).toMatchObject({ command: 'get-token', args: ['--now'], options: { env: { HOME: '/home/me', MORE: 'x' } } })
  })

  it.each(['v1', 'v1beta1'])('P41 P266 tells the command about itself, in version %s', async (version) => {
    const apiVersion = `${group}/${version}`
    const plain = setup([answer({ token: 't' }, apiVersion)], { apiVersion })
    await plain.source.get()
    expect(plain.info()).toEqual({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } })
    const informed = setup([answer({ token: 't' }, apiVersion)], { apiVersion, provideClusterInfo: true })
    await informed.source.get()
    expect(informed.info().spec).toEqual({
      interactive: false,
      cluster: { server: 'https://host', config: { audience: 'a' } },
    })
  })

  it.each([
    ['Never', true, false],
    ['IfAvailable', true, true],
    ['IfAvailable', false, false],
    ['Always', true, true],
  ] as const)('P266 interactiveMode %s with a terminal: %s', async (interactiveMode, terminal, interactive) => {
    const { source, runs, info } = setup([answer({ token: 't' })], { interactiveMode }, terminal)
    await source.get()
    expect(runs[0]!.options.interactive).toBe(interactive)
    expect(info().spec.interactive).toBe(interactive)
  })

  it('P266 Always without a terminal does not run the command', async () => {
    const { source, runs } = setup([answer({ token: 't' })], { interactiveMode: 'Always' })
    await expect(source.get()).rejects.toMatchObject({
      code: 'CredentialsFailed',
      message: expect.stringContaining('needs a terminal'),
    })
    expect(runs).toEqual([])
  })

  it('P266 keeps credentials until they expire', async () => {
    const { source, runs, clock } = setup([
      answer({ token: 'one', expirationTimestamp: '2026-01-01T01:00:00Z' }),
      answer({ token: 'two' }),
    ])
    expect(await source.get()).toEqual({ token: 'one' })
    clock.advance(3_600_000)
    expect(await source.get()).toEqual({ token: 'one' })
    clock.advance(1)
    expect(await source.get()).toEqual({ token: 'two' })
    clock.advance(10 * 365 * 86_400_000)
    expect(await source.get()).toEqual({ token: 'two' })
    expect(runs).toHaveLength(2)
  })

  it('P266 gets others when the server refuses them, once for all who ask', async () => {
    const { source, runs } = setup([answer({ token: 'one' }), answer({ token: 'two' })])
    const refused = await source.get()
    expect(await Promise.all([source.refused(refused), source.refused(refused)])).toEqual([true, true])
    expect(await source.get()).toEqual({ token: 'two' })
    expect(runs).toHaveLength(2)
    // The same again are not worth another request.
    expect(await source.refused(await source.get())).toBe(false)
  })

  it('P266 runs once for requests at the same time, and again after a failure', async () => {
    const { source, runs } = setup([{ kind: 'failed', how: 'exit code 1' }, answer({ token: 'one' })])
    const both = await Promise.allSettled([source.get(), source.get()])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(runs).toHaveLength(1)
    expect(await source.get()).toEqual({ token: 'one' })
  })

  it('P266 tells the install hint when the command is missing or fails', async () => {
    const missing = setup([{ kind: 'missing', cause: new Error('ENOENT') }])
    await expect(missing.source.get()).rejects.toThrow(/"get-token" is not installed.*\n\nGet it at https:\/\/example.com/s)
    const failed = setup([{ kind: 'failed', how: 'exit code 3' }])
    await expect(failed.source.get()).rejects.toThrow(/failed \(exit code 3\)\n\nGet it/)
    const silent = setup([{ kind: 'missing', cause: undefined }], { installHint: undefined })
    await expect(silent.source.get()).rejects.toThrow(/cannot be run$/)
  })
})

describe('what a command answers', () => {
  let certificate: string
  let key: string
  let otherKey: string
  beforeAll(async () => {
    const read = (name: string) => readFile(new URL(`../../testdata/${name}`, import.meta.url), 'utf8')
    ;[certificate, key, otherKey] = await Promise.all([read('one.crt'), read('one.key'), read('two.key')])
  })

  it('P41 may be a certificate with its key, beside a token or alone', async () => {
    const pair = { clientCertificateData: certificate, clientKeyData: key }
    expect(await setup([answer(pair)]).source.get()).toEqual({ certificate, key })
    expect(await setup([answer({ ...pair, token: 't' })]).source.get()).toEqual({ token: 't', certificate, key })
  })

  it('P322 half a key pair is refused', async () => {
    for (const half of [{ clientCertificateData: certificate }, { clientKeyData: key, token: 't' }])
      await expect(setup([answer(half)]).source.get()).rejects.toThrow('a certificate or a key, but not both')
  })

  it('P41 a key that does not belong to the certificate is refused', async () => {
    await expect(setup([answer({ clientCertificateData: certificate, clientKeyData: otherKey })]).source.get()).rejects.toThrow(
      'do not belong together',
    )
    await expect(setup([answer({ clientCertificateData: 'x', clientKeyData: 'y' })]).source.get()).rejects.toThrow(
      'cannot be read',
    )
  })

  it.each([
    ['nothing', '', 'no ExecCredential'],
    ['a list', '[]', 'no ExecCredential'],
    ['another kind', answer({ token: 'hidden' }, undefined, 'Secret'), 'something else'],
    ['another version', answer({ token: 'hidden' }, `${group}/v1beta1`), 'answered with version'],
    ['no status', answer(undefined), 'no status'],
    ['an empty status', answer({}), 'neither a token nor a certificate'],
    ['a token that is no text', answer({ token: 7 }), 'token that is not a text'],
    ['a time that is none', answer({ token: 'hidden', expirationTimestamp: 'soon' }), 'no time'],
  ])('P41 P266 %s is refused, and not repeated', async (_, output, words) => {
    const failure = await setup([output])
      .source.get()
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'ClientError', code: 'CredentialsFailed', message: expect.stringContaining(words) })
    expect(String(failure)).not.toContain('hidden')
  })
})

describe('runCommand', () => {
  const run = (script: string) =>
    runCommand(process.execPath, ['-e', script], {
      env: { ...process.env, GREETING: 'hello; echo $HOME' },
      interactive: false,
      signal: new AbortController().signal,
    })

  it('gives back what the command prints, with no shell between', async () => {
    expect(await run('process.stdout.write(process.env.GREETING)')).toEqual({ kind: 'done', output: 'hello; echo $HOME' })
    expect(await run('process.stdin.on("end", () => process.stdout.write("end")).resume()')).toEqual({
      kind: 'done',
      output: 'end',
    })
  })

  it('tells how a command failed', async () => {
    expect(await run('process.exit(3)')).toEqual({ kind: 'failed', how: 'exit code 3' })
    expect(await run('process.kill(process.pid, "SIGKILL")')).toEqual({ kind: 'failed', how: 'signal SIGKILL' })
    expect(await run('process.stdout.write("x".repeat(2_000_000))')).toEqual({ kind: 'failed', how: 'it printed too much' })
    const ask = { env: {}, interactive: false, signal: new AbortController().signal }
    expect(await runCommand('/nowhere/get-token', [], ask)).toMatchObject({ kind: 'missing' })
  })
})
