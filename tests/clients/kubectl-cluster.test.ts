import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainerBehavior, MatchedBehavior } from '@krmkit/controllers'
import { listen, selfSigned } from '@krmkit/http'
import { systemClock } from '@krmkit/meta'
import { createTestServer, type TestServer } from '@krmkit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Kubectl, kubectlIn, kubectlMissing, skipNote } from './support/kubectl.ts'
import { kubeconfigOf } from './support/local-server.ts'

/** Stock kubectl with simulated nodes: workloads become ready, logs, commands, metrics and drains work. */

const bigBytes = 3_000_000
let stopAtMs = Number.POSITIVE_INFINITY
/** Commands that run until they are stopped. */
let waiting = 0

const suite = describe.skipIf(kubectlMissing !== undefined)
let folder: string
let cluster: TestServer
let kubectl: Kubectl

beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  folder = await mkdtemp(join(tmpdir(), 'krmkit-cluster-'))
  const behavior: ContainerBehavior = {
    logs: 'listening\nready\n',
    usage: { cpu: '250m', memory: '64Mi' },
    portForward({ pod, port, connection }) {
      const server = createServer(({ url }, response) =>
        response.end(url === '/big' ? Buffer.alloc(bigBytes) : `${pod.metadata.name} port ${port}: ${url}`),
      )
      server.emit('connection', connection)
    },
    async exec({ command, stdin, writeOut, writeError, signal }) {
      if (command[0] === 'wait') {
        waiting++
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        waiting--
      }
      if (command[0] === 'fail') {
        writeError('no\n')
        return 3
      }
      if (command[0] === 'cat') for await (const chunk of stdin) writeOut(chunk)
      else writeOut(`${command.join(' ')}\n`)
      return 0
    },
  }
  const plain: MatchedBehavior = {
    match: { image: 'plain:1' },
    logs: ({ nowMs }) => `started\n${nowMs > stopAtMs ? 'stopped\n' : ''}`,
  }
  const echo: MatchedBehavior = {
    match: { image: 'echo:1' },
    async attach({ stdin, writeOut, writeError }) {
      for await (const chunk of stdin) writeOut(`heard ${Buffer.from(chunk)}`)
      writeError('bye')
    },
  }
  // The first match wins: containers of other images follow plain commands.
  const others = { ...behavior, match: { image: /nginx|busybox/ } }
  cluster = await createTestServer({ clock: systemClock, cluster: { nodes: 3, behaviors: [plain, echo, others] } })
  const listener = await cluster.listen((server) => listen(server, { tls: selfSigned(join(folder, 'pki')) }))
  const path = join(folder, 'kubeconfig')
  const token = cluster.tokenOf({ username: 'alice', groups: ['system:masters', 'system:authenticated'] })
  await writeFile(path, JSON.stringify(kubeconfigOf({ address: listener.url, authority: listener.authority ?? '', token })), {
    mode: 0o600,
  })
  kubectl = await kubectlIn(folder, path)
})

afterAll(async () => {
  await cluster?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

suite(`kubectl with simulated nodes${skipNote}`, () => {
  it('rolls out, scales and waits for a deployment', async () => {
    await kubectl.run('create deployment web --image=nginx:1 --replicas=3')
    expect(await kubectl.run('rollout status deployment/web --timeout=30s')).toContain('successfully rolled out')
    await kubectl.run('scale deployment/web --replicas=4')
    expect(await kubectl.run('wait --for=jsonpath={.status.readyReplicas}=4 deployment/web --timeout=30s')).toContain('met')
  })

  it('reads logs and runs commands', async () => {
    expect(await kubectl.run('logs deployment/web --tail=1')).toBe('ready')
    expect(await kubectl.run('exec deployment/web -- echo hello')).toBe('echo hello')
    expect(await kubectl.run('exec -i deployment/web -- cat', { stdin: 'typed' })).toBe('typed')
    const failed = await kubectl.refused('exec deployment/web -- fail')
    expect(failed).toContain('command terminated with exit code 3')
  })

  it.each([
    ['over WebSocket', {}],
    ['over SPDY', { KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
  ])(
    'forwards a port to a handler, %s',
    async (_, env) => {
      const forwarding = kubectl.follow('port-forward deployment/web :8080 --address=127.0.0.1', { env })
      try {
        const forwarded = /127\.0\.0\.1:(\d+) -> 8080/
        await expect.poll(() => forwarding.text, { timeout: 30_000 }).toMatch(forwarded)
        const [, port] = forwarded.exec(forwarding.text) ?? []
        const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
        expect(await get('/a')).toMatch(/^web-.* port 8080: \/a$/)
        const answers = await Promise.all(Array.from({ length: 8 }, (_each, i) => get(`/${i}`)))
        expect(answers.map((text) => text.at(-1))).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
        expect((await get('/big')).length).toBe(bigBytes)
      } finally {
        await forwarding.stop()
      }
    },
    60_000,
  )

  it('runs commands over SPDY', async () => {
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' }
    expect(await kubectl.run('exec deployment/web -- echo hello', { env })).toBe('echo hello')
    expect(await kubectl.run('exec -i deployment/web -- cat', { env, stdin: 'typed' })).toBe('typed')
    expect(await kubectl.refused('exec deployment/web -- fail', { env })).toContain('command terminated with exit code 3')
    expect(await kubectl.run('attach deployment/web', { env })).toContain('listening\nready')
  })

  it.each([
    ['over WebSocket', {}],
    ['over SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' }],
  ])(
    'attaches to a handler, %s',
    async (transport, env) => {
      const name = transport.endsWith('SPDY') ? 'echo-spdy' : 'echo'
      await kubectl.run(`run ${name} --image=echo:1`)
      await kubectl.run(`wait --for=condition=ready pod/${name} --timeout=30s`)
      expect(await kubectl.run(`attach -i ${name}`, { env, stdin: 'one' })).toContain('heard one')
      await kubectl.run(`delete pod ${name} --grace-period=1`)
    },
    60_000,
  )

  it('runs plain commands without a handler, and says what runs others', async () => {
    await kubectl.run('run plain --image=plain:1')
    await kubectl.run('wait --for=condition=ready pod/plain --timeout=30s')
    expect(await kubectl.run('exec plain -- echo hello')).toBe('hello')
    const script = await kubectl.try(['exec', 'plain', '--', 'sh', '-c', 'echo a; sleep 0.1; exit 4'])
    expect([script.code, script.stdout]).toEqual([4, 'a\n'])
    expect(await kubectl.refused('exec plain -- ls')).toContain('ls: command not found: simulated containers run echo')
  })

  it('follows a log until its container ends', async () => {
    const following = kubectl.follow('logs -f plain --tail=1')
    await expect.poll(() => following.text, { timeout: 30_000 }).toBe('started\n')
    stopAtMs = 0
    await kubectl.run('delete pod plain --grace-period=1')
    await expect.poll(() => following.text, { timeout: 30_000 }).toBe('started\nstopped\n')
    await following.stop()
  })

  it.each([
    ['over WebSocket, with time to stop', {}, '--grace-period=1'],
    ['over WebSocket, at once', {}, '--grace-period=0 --force'],
    [
      'over SPDY',
      { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' },
      '--grace-period=0 --force',
    ],
  ])(
    'ends commands and forwarded ports with their pod, %s',
    async (_, env, how) => {
      await kubectl.run('run ending --image=nginx:1')
      await kubectl.run('wait --for=condition=ready pod/ending --timeout=30s')
      const forwarding = kubectl.follow('port-forward ending :8080 --address=127.0.0.1', { env })
      const command = kubectl.try(['exec', 'ending', '--', 'wait'], { env })
      try {
        await expect.poll(() => forwarding.text, { timeout: 30_000 }).toMatch(/-> 8080/)
        await expect.poll(() => waiting, { timeout: 30_000 }).toBe(1)
        await kubectl.run(`delete pod ending ${how}`)
        expect((await command).stderr).toContain('command terminated with exit code 137')
        await expect.poll(() => forwarding.errors, { timeout: 30_000 }).toContain('lost connection to pod')
        expect(waiting).toBe(0)
      } finally {
        await forwarding.stop()
      }
    },
    60_000,
  )

  it('shows metrics', async () => {
    expect(await kubectl.run('top pods')).toMatch(/250m +64Mi/)
    expect(await kubectl.run('top nodes')).toMatch(/node-1 +\d+m +\d+% +\d+Mi/)
  })

  it('drains a node', async () => {
    expect(await kubectl.run('drain node-1 --timeout=30s')).toContain('node/node-1 drained')
    const nodes = await kubectl.run('get pods -o jsonpath={.items[*].spec.nodeName}')
    expect(nodes.split(' ')).not.toContain('node-1')
    await kubectl.run('uncordon node-1')
  })

  it('resizes a pod, and runs one to its end', async () => {
    await kubectl.run(
      'run sized --image=nginx:1 --overrides={"spec":{"containers":[{"name":"sized","image":"nginx:1","resources":{"requests":{"cpu":"100m"}}}]}}',
    )
    await kubectl.run('wait pod/sized --for=condition=Ready --timeout=30s')
    const patch = { spec: { containers: [{ name: 'sized', resources: { requests: { cpu: '200m' } } }] } }
    await kubectl.run(`patch pod sized --subresource=resize -p ${JSON.stringify(patch)}`)
    await kubectl.run('wait pod/sized --for=jsonpath={.status.containerStatuses[0].resources.requests.cpu}=200m --timeout=30s')
    await kubectl.run('run once --image=curl:8 --restart=Never -- curl web')
    await kubectl.run('wait pod/once --for=jsonpath={.status.phase}=Succeeded --timeout=30s')
    await kubectl.run('delete pod sized once')
  })

  it('waits for a completed job', async () => {
    await kubectl.run('create job work --image=busybox')
    expect(await kubectl.run('wait --for=condition=complete job/work --timeout=30s')).toContain('condition met')
  })
})
