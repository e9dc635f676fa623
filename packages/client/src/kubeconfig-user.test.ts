import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ExecCluster, ExecConfig } from './credentials/exec-config.ts'
import { execClusterOf, readExecConfig } from './credentials/exec-config.ts'
import type { Entry } from './kubeconfig-file.ts'
import { kubeconfigUser } from './kubeconfig-user.ts'

const group = 'client.authentication.k8s.io'
const entry = (members: Record<string, unknown>): Entry => ({ name: 'u', members, folder: '/etc/kube' })
const cluster = entry({ server: 'https://host:6443' })
const read = (members: Record<string, unknown>) => kubeconfigUser(entry(members), { cluster, ca: undefined, env: {} })
const exec = (members: object): ExecConfig => readExecConfig(entry({ exec: members }), group)
const v1 = { command: 'get-token', apiVersion: `${group}/v1`, interactiveMode: 'Never' }

describe('kubeconfigUser', () => {
  it('reads a name and password', async () => {
    expect(await read({ username: 'a', password: 'b' })).toEqual({ basic: { username: 'a', password: 'b' } })
    await expect(read({ username: 'a', password: 'b', token: 't' })).rejects.toMatchObject({ code: 'InvalidKubeconfig' })
  })

  it('P266 reads a command; a token makes it unnecessary', async () => {
    expect(Object.keys(await read({ exec: v1 }))).toEqual(['credentials'])
    expect(await read({ exec: v1, token: 't' })).toEqual({ token: 't' })
    await expect(read({ exec: {}, token: 't' })).rejects.toMatchObject({ code: 'InvalidKubeconfig' })
  })

  it('reads whom to impersonate, with extra values', async () => {
    const as = { as: 'bob', 'as-groups': ['dev'], 'as-user-extra': { scopes: ['view'], __proto__: ['x'] } }
    expect((await read(as)).impersonate).toMatchObject({ user: 'bob', groups: ['dev'], extra: { scopes: ['view'] } })
    for (const lonely of [{ 'as-uid': '7' }, { 'as-groups': ['dev'] }, { 'as-user-extra': { a: ['b'] } }])
      await expect(read(lonely)).rejects.toThrow('need as')
  })

  it('runs the command with what the configuration says', async () => {
    let told: unknown
    const { credentials } = await kubeconfigUser(entry({ exec: { ...v1, provideClusterInfo: true } }), {
      cluster: entry({ server: 'https://host:6443' }),
      ca: 'PEM',
      env: { A: 'b' },
      profile: { apiDomain: 'k8s.io', vendor: 'kubernetes' },
      exec: {
        run: async (_, __, { env }) => {
          told = JSON.parse(env.KUBERNETES_EXEC_INFO ?? '')
          const token = env.A ?? ''
          const output = JSON.stringify({ kind: 'ExecCredential', apiVersion: v1.apiVersion, status: { token } })
          return { kind: 'done', output }
        },
      },
    })
    expect(await credentials!.get()).toEqual({ token: 'b' })
    expect(told).toMatchObject({ spec: { cluster: { server: 'https://host:6443', 'certificate-authority-data': 'UEVN' } } })
  })
})

describe('readExecConfig', () => {
  it('P266 reads every member', () => {
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

  it('P266 a path is relative to the file, a name is looked for in PATH', () => {
    expect(exec({ ...v1, command: 'x/y' }).command).toBe('/etc/kube/x/y')
    expect(exec({ ...v1, command: '/x/y' }).command).toBe('/x/y')
    expect(exec(v1).command).toBe('get-token')
  })

  it('P266 interactiveMode may be left out in v1beta1 alone', () => {
    const { interactiveMode: _, ...without } = v1
    expect(exec({ ...without, apiVersion: `${group}/v1beta1` }).interactiveMode).toBe('IfAvailable')
    expect(() => exec(without)).toThrow('interactiveMode is needed')
    expect(() => exec({ ...v1, interactiveMode: 'Sometimes' })).toThrow('must be one of')
  })

  it.each([
    [{ apiVersion: v1.apiVersion }, 'names no command'],
    [{ ...v1, apiVersion: undefined }, 'apiVersion must be'],
    [{ ...v1, apiVersion: `${group}/v1alpha1` }, 'apiVersion must be'],
    [{ ...v1, args: 'a' }, 'args is not a list'],
    [{ ...v1, env: {} }, 'env is not a list'],
    [{ ...v1, env: [{ value: 'v' }] }, 'without a name'],
    [[], 'is not an object'],
  ])('refuses %j', (members, words) => {
    expect(() => exec(members)).toThrow(words)
  })
})

describe('execClusterOf', () => {
  it('P266 tells of the cluster what the command may need, and the configuration meant for it', () => {
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
    const told: ExecCluster = execClusterOf(entry(members), { ca: 'PEM', group })
    expect(told).toEqual({
      server: 'https://host',
      'tls-server-name': 'other',
      'certificate-authority-data': 'UEVN',
      config: { audience: 'a' },
    })
    expect(execClusterOf(cluster, { ca: undefined, group })).toEqual({ server: 'https://host:6443' })
  })
})
