/** Exercises the common code paths of a server, so that V8 compiles them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

export interface ExerciseOptions {
  readonly bundleFile: string
  /** An empty folder for the data of the server. */
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
}

/** A request, which must succeed. */
interface Step {
  /** Default: GET. */
  readonly method?: string
  readonly path: string
  /** Default: JSON. */
  readonly accept?: string
  /** Of the body. Default: JSON. */
  readonly type?: string
  readonly body?: object
}

export async function exercise({ bundleFile, dir, env }: ExerciseOptions): Promise<void> {
  const tokens = join(dir, 'tokens.csv')
  writeFileSync(tokens, 'exercise,exercise,1,"system:masters"\n')
  const flags = ['--secure-port', '0', '--storage', 'durable', '--data-dir', join(dir, 'data'), '--token-auth-file', tokens]
  const child = spawn(process.execPath, [bundleFile, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const exited = once(child, 'exit')
  try {
    const url = await Promise.race([
      urlOf(child.stdout),
      exited.then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
    ])
    for (const step of steps) await send(url, step)
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

async function urlOf(stdout: Readable): Promise<string> {
  let text = ''
  for await (const piece of stdout) {
    text += piece
    const found = /https:\/\/[^\s;]+/.exec(text)
    if (found !== null) return found[0]
  }
  throw new Error('the server did not print its address')
}

const object = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { a: 'b' } },
  data: { key: 'value' },
})
const maps = '/api/v1/namespaces/default/configmaps'
const podSpec = {
  containers: [
    {
      name: 'web',
      image: 'web:1',
      ports: [{ containerPort: 80, name: 'http' }],
      env: [{ name: 'A', value: '1' }],
      resources: { requests: { cpu: '100m' }, limits: { memory: '128Mi' } },
      readinessProbe: { httpGet: { path: '/', port: 'http' } },
      volumeMounts: [{ name: 'settings', mountPath: '/etc/settings' }],
    },
  ],
  volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
}
const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: podSpec } },
})
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const core = '/api/v1/namespaces/default'
const service = { metadata: { name: 'web' }, spec: { selector: { a: 'b' }, ports: [{ port: 80, targetPort: 'http' }] } }
const apply = 'application/apply-patch+yaml'
const steps: readonly Step[] = [
  { path: '/apis', accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json' },
  { path: '/api' },
  ...['a', 'b', 'c'].map((name) => ({ method: 'POST', path: maps, body: object(name) })),
  { path: `${maps}/a` },
  { path: maps, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
  { path: `${maps}?limit=2&labelSelector=a%3Db` },
  { method: 'PUT', path: `${maps}/a`, body: { ...object('a'), data: { key: 'other' } } },
  { method: 'PATCH', path: `${maps}/b`, type: 'application/merge-patch+json', body: { data: { more: 'x' } } },
  { method: 'PATCH', path: `${maps}/d?fieldManager=m`, type: apply, body: object('d') },
  { method: 'PATCH', path: `${maps}/d?fieldManager=m`, type: apply, body: { ...object('d'), data: { key: 'new' } } },
  ...[1, 2].map((replicas) => ({
    method: 'PATCH',
    path: `${deployments}/a?fieldManager=m`,
    type: apply,
    body: deployment('a', replicas),
  })),
  { method: 'POST', path: deployments, body: deployment('b', 1) },
  { method: 'PATCH', path: `${deployments}/b`, type: 'application/strategic-merge-patch+json', body: { spec: { replicas: 2 } } },
  { method: 'POST', path: `${core}/pods`, body: { metadata: { name: 'a', labels: { a: 'b' } }, spec: podSpec } },
  { method: 'POST', path: `${core}/services`, body: service },
  { method: 'POST', path: `${core}/secrets`, body: { metadata: { name: 'a' }, stringData: { key: 'value' } } },
  { path: `${maps}?watch=1&resourceVersion=0&timeoutSeconds=1` },
  { method: 'DELETE', path: `${maps}/a` },
]

/** Sends one request and reads the complete response. */
function send(
  url: string,
  { method = 'GET', path, accept = 'application/json', type = 'application/json', body }: Step,
): Promise<void> {
  const headers = { authorization: 'Bearer exercise', accept, ...(body === undefined ? {} : { 'content-type': type }) }
  return new Promise<void>((resolve, reject) => {
    // The server's certificate was just created and is self-signed.
    const sent = request(`${url}${path}`, { method, headers, rejectUnauthorized: false }, (answer) => {
      answer
        .resume()
        .once('end', () => resolve())
        .once('error', reject)
      const { statusCode = 0 } = answer
      if (statusCode >= 400) reject(new Error(`${method} ${path} was answered with ${statusCode}`))
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
