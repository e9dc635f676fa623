import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listen } from '@krmkit/http'
import { createTestServer } from '@krmkit/testing'
import * as versioning from '@krmkit/versioning'
import * as surface from '@krmkit/versioning/surface'
import { expect, it } from 'vitest'
import { testTerminal } from '../../packages/cli/src/offline/testing/test-terminal.ts'
import { runCommand } from '../../packages/cli/src/testing/run-command.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** Runs the commands of the page in order, on the files that it shows, and compares what they print. */

const page = readFileSync(new URL('../../docs/guide/will-my-cluster-upgrade-break-me.md', import.meta.url), 'utf8')
const folder = temporaryFolder()

interface Block {
  readonly language: string
  /** A file name or the command that prints the text. */
  readonly title: string
  readonly text: string
}

const blocks: readonly Block[] = [...page.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', title = '', text = '']) => ({ language, title, text }),
)

/** Starts a server with an object that an old version applied. */
async function withServer<T>(use: (kubeconfig: string, url: string) => Promise<T>): Promise<T> {
  await using cluster = await createTestServer()
  await using listener = await cluster.listen((server) => listen(server, { tls: false }))
  const applied = JSON.stringify({ apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'nightly' } })
  const template = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } } }
  await cluster.client.create({ group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob', namespaced: true }, {
    metadata: {
      name: 'nightly',
      namespace: 'default',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
    },
    spec: { schedule: '@daily', jobTemplate: template },
  } as never)
  const kubeconfig = join(folder, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server: listener.url } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  return await use(kubeconfig, listener.url)
}

/** What a shell would show: both streams, without the folder of the test. */
async function output(command: string, stdin: string): Promise<string> {
  const [words = '', redirected] = command.split(' > ')
  const args = words.split(' ').map((word) => (/^(?:deploy|psp|released|changed)\b/.test(word) ? join(folder, word) : word))
  const run = async (more: readonly string[] = []) => {
    const { out, err } = await runCommand([...args.slice(1), ...more], testTerminal({ stdin: () => stdin }))
    return redirected === undefined ? err + out : err
  }
  if (!args.includes('server')) return (await run()).replaceAll(`${folder}/`, '')
  return withServer(async (kubeconfig, url) => (await run(['--kubeconfig', kubeconfig])).replaceAll(url, 'SERVER'))
}

it('prints for each command what the page shows, and writes the files that it shows [P332 P334 P339 P341]', async () => {
  const printed = new Map<string, string>()
  let commands = 0
  for (const { language, title, text } of blocks) {
    if (language === 'yaml' && title.endsWith(' (converted)')) {
      expect(readFileSync(join(folder, title.replace(' (converted)', '')), 'utf8')).toBe(text)
    } else if (language === 'yaml' && title.startsWith('helm ')) printed.set(title, text)
    else if (language === 'yaml') {
      mkdirSync(join(folder, title, '..'), { recursive: true })
      writeFileSync(join(folder, title), text)
    }
    if (language !== 'console') continue
    const [line = '', ...expected] = text.split('\n')
    const [source, command = source] = line.replace('$ ', '').split(' | ')
    const stdin = command === source ? '' : printed.get(source as string)
    expect(stdin, line).toBeDefined()
    expect(await output(command as string, stdin as string), line).toBe(expected.join('\n'))
    commands++
  }
  expect(commands).toBeGreaterThan(9)
  const all = [...page.matchAll(/^\$ .*/gm)]
  expect(commands).toBe(all.length)
})

it('shows a program that runs', () => {
  const code = blocks.find(({ language }) => language === 'ts')?.text ?? ''
  const body = code.replace(/import (\{.*\}) from '@krmkit\/versioning(?:\/surface)?'/g, 'const $1 = versioning')
  expect(body).toContain('= versioning')
  const [, ...calls] = body.split('\n').filter((line) => /^(?:find|convert|compare)/.test(line))
  expect(calls).toHaveLength(2)
  expect(() => new Function('versioning', body)({ ...versioning, ...surface })).not.toThrow()
})
