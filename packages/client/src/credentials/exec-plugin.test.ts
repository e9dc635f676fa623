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
const output = (status: object | undefined, apiVersion = `${group}/v1`, kind = 'ExecCredential') =>
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
        const next = outputs.length > 1 ? outputs.shift()! : outputs[0]!
        return typeof next === 'string' ? { kind: 'done', output: next } : next
      },
    },
  )
  const info = (index = 0) => JSON.parse(runs[index]!.options.env.KUBERNETES_EXEC_INFO ?? '')
  return { source, runs, clock, info }
}

describe('execCredentials', () => {
  it('runs the command with its arguments and environment and returns its token [P235] [P266]', async () => {
    const { source, runs } = setup([output({ token: 'secret' })])
    expect(await source.get()).toEqual({ token: 'secret' })
    expect(runs[0]).toMatchObject({ command: 'get-token', args: ['--now'], options: { env: { HOME: '/home/me', MORE: 'x' } } })
  })

  it.each(['v1', 'v1beta1'])('passes an ExecCredential of version %s to the command [P41] [P266]', async (version) => {
    const apiVersion = `${group}/${version}`
    const plain = setup([output({ token: 't' }, apiVersion)], { apiVersion })
    await plain.source.get()
    expect(plain.info()).toEqual({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } })
    const informed = setup([output({ token: 't' }, apiVersion)], { apiVersion, provideClusterInfo: true })
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
  ] as const)('applies interactiveMode %s with a terminal: %s [P266]', async (interactiveMode, terminal, interactive) => {
    const { source, runs, info } = setup([output({ token: 't' })], { interactiveMode }, terminal)
    await source.get()
    expect(runs[0]!.options.interactive).toBe(interactive)
    expect(info().spec.interactive).toBe(interactive)
  })

  it('does not run a command with interactiveMode Always without a terminal [P266]', async () => {
    const { source, runs } = setup([output({ token: 't' })], { interactiveMode: 'Always' })
    await expect(source.get()).rejects.toMatchObject({
      code: 'CredentialsFailed',
      message: expect.stringContaining('needs a terminal'),
    })
    expect(runs).toEqual([])
  })

  it('caches credentials until they expire [P266]', async () => {
    const { source, runs, clock } = setup([
      output({ token: 'one', expirationTimestamp: '2026-01-01T01:00:00Z' }),
      output({ token: 'two' }),
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

  it('renews rejected credentials, once for concurrent requests [P266]', async () => {
    const { source, runs } = setup([output({ token: 'one' }), output({ token: 'two' })])
    const rejected = await source.get()
    expect(await Promise.all([source.renew(rejected), source.renew(rejected)])).toEqual([true, true])
    expect(await source.get()).toEqual({ token: 'two' })
    expect(runs).toHaveLength(2)
    // Unchanged credentials do not justify another request.
    expect(await source.renew(await source.get())).toBe(false)
  })

  it('runs once for concurrent requests, and again after a failure [P266]', async () => {
    const { source, runs } = setup([{ kind: 'failed', reason: 'exit code 1' }, output({ token: 'one' })])
    const both = await Promise.allSettled([source.get(), source.get()])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(runs).toHaveLength(1)
    expect(await source.get()).toEqual({ token: 'one' })
  })

  it('includes the install hint when the command is missing or fails [P266]', async () => {
    const missing = setup([{ kind: 'missing', cause: new Error('ENOENT') }])
    await expect(missing.source.get()).rejects.toThrow(/"get-token" is not installed.*\n\nGet it at https:\/\/example.com/s)
    const failed = setup([{ kind: 'failed', reason: 'exit code 3' }])
    await expect(failed.source.get()).rejects.toThrow(/failed \(exit code 3\)\n\nGet it/)
    const silent = setup([{ kind: 'missing', cause: undefined }], { installHint: undefined })
    await expect(silent.source.get()).rejects.toThrow(/cannot be run$/)
  })
})

describe('output of a command', () => {
  let certificate: string
  let key: string
  let otherKey: string
  beforeAll(async () => {
    const read = (name: string) => readFile(new URL(`../../testdata/${name}`, import.meta.url), 'utf8')
    ;[certificate, key, otherKey] = await Promise.all([read('one.crt'), read('one.key'), read('two.key')])
  })

  it('may be a certificate with its key, with or without a token [P41]', async () => {
    const pair = { clientCertificateData: certificate, clientKeyData: key }
    expect(await setup([output(pair)]).source.get()).toEqual({ certificate, key })
    expect(await setup([output({ ...pair, token: 't' })]).source.get()).toEqual({ token: 't', certificate, key })
  })

  it('is rejected with an incomplete key pair [P322]', async () => {
    for (const half of [{ clientCertificateData: certificate }, { clientKeyData: key, token: 't' }])
      await expect(setup([output(half)]).source.get()).rejects.toThrow('a certificate or a key, but not both')
  })

  it('is rejected when key and certificate do not match [P41]', async () => {
    await expect(setup([output({ clientCertificateData: certificate, clientKeyData: otherKey })]).source.get()).rejects.toThrow(
      'do not match',
    )
    await expect(setup([output({ clientCertificateData: 'x', clientKeyData: 'y' })]).source.get()).rejects.toThrow('unreadable')
  })

  it.each([
    ['nothing', '', 'no ExecCredential'],
    ['a list', '[]', 'no ExecCredential'],
    ['another kind', output({ token: 'hidden' }, undefined, 'Secret'), 'another kind'],
    ['another version', output({ token: 'hidden' }, `${group}/v1beta1`), 'printed version'],
    ['no status', output(undefined), 'no status'],
    ['an empty status', output({}), 'neither a token nor a certificate'],
    ['a token that is not a string', output({ token: 7 }), 'token that is not a string'],
    ['an invalid time', output({ token: 'hidden', expirationTimestamp: 'soon' }), 'invalid expirationTimestamp'],
    ['a date without a time', output({ token: 'hidden', expirationTimestamp: '2026-01-01' }), 'invalid expirationTimestamp'],
    ['a time without a zone', output({ token: 'hidden', expirationTimestamp: '2026-01-01T01:00:00' }), 'expirationTimestamp'],
    [
      'a time of an HTTP header',
      output({ token: 'hidden', expirationTimestamp: 'Thu, 01 Jan 2026 01:00:00 GMT' }),
      'expirationT',
    ],
    ['a blank for the T of a time', output({ token: 'hidden', expirationTimestamp: '2026-01-01 01:00:00Z' }), 'expirationTime'],
    ['a day that does not exist', output({ token: 'hidden', expirationTimestamp: '2026-02-30T01:00:00Z' }), 'expirationTime'],
    ['an empty time', output({ token: 'hidden', expirationTimestamp: '' }), 'invalid expirationTimestamp'],
    ['a time in seconds', output({ token: 'hidden', expirationTimestamp: 1_767_225_600 }), 'not a string'],
  ])('is rejected with %s, without quoting it [P41] [P266]', async (_, printed, message) => {
    const failure = await setup([printed])
      .source.get()
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'ClientError', code: 'CredentialsFailed', message: expect.stringContaining(message) })
    expect(String(failure)).not.toContain('hidden')
  })
})

describe('expirationTimestamp of a command', () => {
  it.each([
    ['an offset', '2026-01-01T02:00:00+01:00'],
    ['a fraction', '2026-01-01T01:00:00.000999Z'],
  ])('may have %s [P41]', async (_, expirationTimestamp) => {
    const { source, runs, clock } = setup([output({ token: 't', expirationTimestamp })])
    await source.get()
    clock.advance(3_600_000)
    await source.get()
    expect(runs).toHaveLength(1)
    clock.advance(2)
    await source.get()
    expect(runs).toHaveLength(2)
  })

  it('may be null: the credentials do not expire [P41] [P266]', async () => {
    const { source, runs, clock } = setup([output({ token: 't', expirationTimestamp: null })])
    await source.get()
    clock.advance(10 * 365 * 86_400_000)
    await source.get()
    expect(runs).toHaveLength(1)
  })
})

describe('runCommand', () => {
  const run = (script: string) =>
    runCommand(process.execPath, ['-e', script], {
      env: { ...process.env, GREETING: 'hello; echo $HOME' },
      interactive: false,
      signal: new AbortController().signal,
    })

  it('returns the output of the command, without a shell', async () => {
    expect(await run('process.stdout.write(process.env.GREETING)')).toEqual({ kind: 'done', output: 'hello; echo $HOME' })
    expect(await run('process.stdin.on("end", () => process.stdout.write("end")).resume()')).toEqual({
      kind: 'done',
      output: 'end',
    })
  })

  it('reports why a command failed', async () => {
    expect(await run('process.exit(3)')).toEqual({ kind: 'failed', reason: 'exit code 3' })
    expect(await run('process.kill(process.pid, "SIGKILL")')).toEqual({ kind: 'failed', reason: 'signal SIGKILL' })
    expect(await run('process.stdout.write("x".repeat(2_000_000))')).toEqual({
      kind: 'failed',
      reason: 'its output is too large',
    })
    const ask = { env: {}, interactive: false, signal: new AbortController().signal }
    expect(await runCommand('/nowhere/get-token', [], ask)).toMatchObject({ kind: 'missing' })
  })
})
