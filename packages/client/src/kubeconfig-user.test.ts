import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ExecCluster, type ExecConfig, execClusterOf, readExecConfig } from './credentials/exec-config.ts'
import type { Entry } from './kubeconfig-file.ts'
import { readUser } from './kubeconfig-user.ts'

const group = 'client.authentication.k8s.io'
const entry = (members: Record<string, unknown>): Entry => ({ name: 'u', members, folder: '/etc/kube' })
const cluster = entry({ server: 'https://host:6443' })
const read = (members: Record<string, unknown>) => readUser(entry(members), { cluster, ca: undefined, env: {} })
const exec = (members: object): ExecConfig => readExecConfig(entry({ exec: members }), group)
const v1 = { command: 'get-token', apiVersion: `${group}/v1`, interactiveMode: 'Never' }

describe('readUser', () => {
  it('reads username and password', async () => {
    expect(await read({ username: 'a', password: 'b' })).toEqual({ basic: { username: 'a', password: 'b' } })
    await expect(read({ username: 'a', password: 'b', token: 't' })).rejects.toMatchObject({ code: 'InvalidKubeconfig' })
  })

  it('reads a command, which a token overrides [P266]', async () => {
    expect(Object.keys(await read({ exec: v1 }))).toEqual(['credentials'])
    expect(await read({ exec: v1, token: 't' })).toEqual({ token: 't' })
    await expect(read({ exec: {}, token: 't' })).rejects.toMatchObject({ code: 'InvalidKubeconfig' })
  })

  it('reads the impersonated user, with extra values', async () => {
    const as = { as: 'bob', 'as-groups': ['dev'], 'as-user-extra': { scopes: ['view'], __proto__: ['x'] } }
    expect((await read(as)).impersonate).toMatchObject({ user: 'bob', groups: ['dev'], extra: { scopes: ['view'] } })
    for (const lonely of [{ 'as-uid': '7' }, { 'as-groups': ['dev'] }, { 'as-user-extra': { a: ['b'] } }])
      await expect(read(lonely)).rejects.toThrow('require as')
  })

  it('runs the configured command', async () => {
    let execInfo: unknown
    const { credentials } = await readUser(entry({ exec: { ...v1, provideClusterInfo: true } }), {
      cluster: entry({ server: 'https://host:6443' }),
      ca: 'PEM',
      env: { A: 'b' },
      profile: { apiDomain: 'k8s.io', vendor: 'kubernetes' },
      exec: {
        run: async (_, __, { env }) => {
          execInfo = JSON.parse(env.KUBERNETES_EXEC_INFO ?? '')
          const token = env.A ?? ''
          const output = JSON.stringify({ kind: 'ExecCredential', apiVersion: v1.apiVersion, status: { token } })
          return { kind: 'done', output }
        },
      },
    })
    expect(await credentials!.get()).toEqual({ token: 'b' })
    expect(execInfo).toMatchObject({ spec: { cluster: { server: 'https://host:6443', 'certificate-authority-data': 'UEVN' } } })
  })
})

describe('readExecConfig', () => {
  it('reads all fields [P266]', () => {
    const all = {
      command: './bin/get-token',
      apiVersion: `${group}/v1beta1`,
      args: ['a', 'b'],
      env: [{ name: 'N', value: 'v' }, { name: 'E' }],
      installHint: 'install\u001b[31m it\nsoon',
      provideClusterInfo: true,
      interactiveMode: 'Always',
    }
    expect(exec(all)).toEqual({
      ...all,
      command: join('/etc/kube', 'bin/get-token'),
      env: [
        { name: 'N', value: 'v' },
        { name: 'E', value: '' },
      ],
      installHint: 'install[31m it\nsoon',
    })
  })

  it('resolves a path relative to the file and looks up a bare name in PATH [P266]', () => {
    expect(exec({ ...v1, command: 'x/y' }).command).toBe('/etc/kube/x/y')
    expect(exec({ ...v1, command: '/x/y' }).command).toBe('/x/y')
    expect(exec(v1).command).toBe('get-token')
  })

  it('resolves a path relative to a file in the working directory, never in PATH [P266]', () => {
    const command = (path: string) =>
      readExecConfig({ name: 'u', members: { exec: { ...v1, command: path } }, folder: '.' }, group).command
    expect(command('./get-token')).toBe(join(process.cwd(), 'get-token'))
    expect(command('bin/get-token')).toBe(join(process.cwd(), 'bin/get-token'))
    expect(command('get-token')).toBe('get-token')
  })

  it('requires interactiveMode except in v1beta1 [P266]', () => {
    const { interactiveMode: _, ...without } = v1
    expect(exec({ ...without, apiVersion: `${group}/v1beta1` }).interactiveMode).toBe('IfAvailable')
    expect(() => exec(without)).toThrow('interactiveMode is required')
    expect(() => exec({ ...v1, interactiveMode: 'Sometimes' })).toThrow('must be one of')
  })

  it.each([
    [{ apiVersion: v1.apiVersion }, 'command is missing'],
    [{ ...v1, apiVersion: undefined }, 'apiVersion must be'],
    [{ ...v1, apiVersion: `${group}/v1alpha1` }, 'apiVersion must be'],
    [{ ...v1, args: 'a' }, 'args is not a list'],
    [{ ...v1, env: {} }, 'env is not a list'],
    [{ ...v1, env: [{ value: 'v' }] }, 'has no name'],
    [[], 'is not an object'],
  ])('rejects %j', (members, message) => {
    expect(() => exec(members)).toThrow(message)
  })
})

describe('execClusterOf', () => {
  it('returns the cluster fields and the exec extension [P266]', () => {
    const members = {
      server: 'https://host',
      'tls-server-name': 'other',
      'insecure-skip-tls-verify': false,
      'certificate-authority': 'ca.pem',
      extensions: [
        { name: 'other', extension: 1 },
        { name: `${group}/exec`, extension: { audience: 'a' } },
      ],
    }
    const execInfo: ExecCluster = execClusterOf(entry(members), { ca: 'PEM', group })
    expect(execInfo).toEqual({
      server: 'https://host',
      'tls-server-name': 'other',
      'certificate-authority-data': 'UEVN',
      config: { audience: 'a' },
    })
    expect(execClusterOf(cluster, { ca: undefined, group })).toEqual({ server: 'https://host:6443' })
  })
})
