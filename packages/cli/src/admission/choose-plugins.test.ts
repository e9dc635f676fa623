import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type AdmissionPlugin, admit, ObjectSet } from '@krmkit/admission'
import { seededRandom } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { chooseAdmissionPlugins } from './choose-plugins.ts'
import type { AdmissionOptions } from './options.ts'

const folder = temporaryFolder()
const file = (name: string, value: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

const random = seededRandom(1)
const options = (rest: Partial<AdmissionOptions> = {}): AdmissionOptions => ({
  enableAdmissionPlugins: [],
  disableAdmissionPlugins: [],
  ...rest,
})
const choose = (rest: Partial<AdmissionOptions> = {}, hasServiceAccounts = true) =>
  chooseAdmissionPlugins(options(rest), { hasServiceAccounts })
const configured = (...plugins: object[]) =>
  file('admission.json', { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins })
const names = (plugins: readonly AdmissionPlugin[]) => plugins.map(({ name }) => name)

describe('chooseAdmissionPlugins', () => {
  it('disables ServiceAccount without the service account controller, unless it is enabled by name', async () => {
    expect(names((await choose()).make({ random }))).toContain('ServiceAccount')
    expect(names((await choose({}, false)).make({ random }))).not.toContain('ServiceAccount')
    const selected = await choose({ enableAdmissionPlugins: ['ServiceAccount'] }, false)
    expect(names(selected.make({ random }))).toContain('ServiceAccount')
  })

  it('disables any plugin', async () => {
    expect(names((await choose()).make({ random }))).toContain('NamespaceLifecycle')
    const chosen = await choose({ disableAdmissionPlugins: ['NamespaceLifecycle'] })
    expect(names(chosen.make({ random }))).not.toContain('NamespaceLifecycle')
  })

  it.each<[Partial<AdmissionOptions>, string, string]>([
    [{ enableAdmissionPlugins: ['Nonsense'] }, 'InvalidFlag', 'unknown admission plugin "Nonsense"'],
    [{ admissionControlConfigFile: join(folder, 'none.yaml') }, 'FileFailed', '--admission-control-config-file: cannot read'],
    [{ admissionControlConfigFile: file('odd.yaml', 'kind: Odd') }, 'InvalidFlag', 'kind must be AdmissionConfiguration'],
    [{ admissionControlConfigFile: file('broken.yaml', '{') }, 'InvalidFlag', 'does not parse'],
  ])('rejects %j', async (rest, code, sentence) => {
    const failure = await choose(rest).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code, message: expect.stringContaining(sentence) })
  })

  it('names the member of an invalid plugin configuration', async () => {
    const wrong = await choose({
      admissionControlConfigFile: configured({ name: 'PodSecurity', configuration: { kind: 'PodSecurityConfiguration' } }),
    })
    expect(() => wrong.make({ random })).toThrow(
      expect.objectContaining({
        code: 'InvalidFlag',
        message: expect.stringContaining('admission plugin PodSecurity: apiVersion must be'),
      }),
    )
    const unknown = await choose({ admissionControlConfigFile: configured({ name: 'Nonsense', configuration: {} }) })
    expect(() => unknown.make({ random })).toThrow('unknown admission plugin "Nonsense"')
  })

  it('configures the default tolerations of pods', async () => {
    const plugins = (await choose({ defaultNotReadyTolerationSeconds: 5 })).make({ random })
    const answer = await admit(
      {
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: {} },
      },
      plugins.filter(({ name }) => name === 'DefaultTolerationSeconds'),
      new ObjectSet(),
    )
    expect(answer.object).toMatchObject({ spec: { tolerations: [{ tolerationSeconds: 5 }, { tolerationSeconds: 300 }] } })
  })
})

describe('image policy webhooks', () => {
  let service: Server | undefined
  afterEach(() => void service?.close())
  const listen = async (answer: (review: { spec: object }) => { status: number; body: object }) => {
    service = createServer((request, response) => {
      let text = ''
      request.on('data', (part) => {
        text += String(part)
      })
      request.on('end', () => {
        const { status, body } = answer(JSON.parse(text))
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
    })
    await new Promise<void>((resolve) => service?.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as AddressInfo
    return file('policy.kubeconfig', {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
      clusters: [{ name: 's', cluster: { server: `http://127.0.0.1:${port}/review` } }],
      users: [{ name: 'u', user: { token: 'secret' } }],
    })
  }
  const ask = async (kubeConfigFile: string) => {
    const configuration = { imagePolicy: { kubeConfigFile, retryBackoff: 1 } }
    await using chosen = await choose({
      enableAdmissionPlugins: ['ImagePolicyWebhook'],
      admissionControlConfigFile: configured({ name: 'ImagePolicyWebhook', configuration }),
    })
    const plugins = chosen.make({ random }).filter(({ name }) => name === 'ImagePolicyWebhook')
    await chosen.ready()
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const { status, allowed } = await admit(
      {
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'ns' }, spec },
      },
      plugins,
      new ObjectSet(),
    )
    return allowed ? 'allowed' : status?.message
  }

  it('are called with the connection of the kubeconfig [P300]', async () => {
    const selected: object[] = []
    const path = await listen(({ spec }) => {
      selected.push(spec)
      return { status: 200, body: { status: { allowed: true } } }
    })
    expect(await ask(path)).toBe('allowed')
    expect(selected).toEqual([{ containers: [{ image: 'i' }], namespace: 'ns' }])
  })

  it('refuse when the response is invalid [P300]', async () => {
    const path = await listen(() => ({ status: 400, body: {} }))
    expect(await ask(path)).toBe('pods "a" is forbidden: Error contacting webhook: 400')
  })

  it('fail the start without a kubeconfig [P300]', async () => {
    await expect(ask(join(folder, 'none.kubeconfig'))).rejects.toMatchObject({
      code: 'FileFailed',
      message: expect.stringContaining('image policy:'),
    })
  })
})
