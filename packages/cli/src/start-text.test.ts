import { expect, it } from 'vitest'
import { startText } from './start-text.ts'
import { serveOptions } from './testing/run-command.ts'

const running = { url: 'https://127.0.0.1:6443', kubeconfig: '/data/admin.kubeconfig' }
const text = async (...flags: string[]) => startText(running, await serveOptions('/data', flags))

it('names the address, the release, the data and how to stop', async () => {
  expect(await text('--storage=durable')).toBe(
    [
      'krmkit serves https://127.0.0.1:6443; try: kubectl --kubeconfig /data/admin.kubeconfig get namespaces',
      '  API:  Kubernetes 1.33; controllers: *',
      '  data: /data/data',
      '  stop: Ctrl-C or SIGTERM; a second signal ends it at once',
      '',
    ].join('\n'),
  )
})

it.each([
  [['--storage=memory'], 'data: in memory, lost at exit'],
  [
    ['--storage=etcd', '--etcd-servers=http://a:2379,http://b:2379'],
    'data: etcd at http://a:2379, http://b:2379, below /registry',
  ],
  [['--emulated-version=1.24', '--controllers='], 'API:  Kubernetes 1.24; without controllers\n'],
  [['--threads=2'], 'worker processes: 2'],
])('says what %j chooses', async (flags, sentence) => {
  expect(await text(...flags)).toContain(sentence)
})

it('suggests no kubeconfig when none is written', async () => {
  const options = await serveOptions('/data')
  expect(startText({ url: 'https://a', kubeconfig: undefined }, options)).toMatch(/^krmkit serves https:\/\/a\n/)
})
