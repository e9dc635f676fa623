import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { JsonObject } from '@krmkit/meta'
import { serve } from '../../serve.ts'
import { serveOptions } from '../../testing/run-command.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  readonly json: AnsweredObject
}

/** An object or a list. */
export interface AnsweredObject {
  readonly metadata: { readonly name?: string; readonly resourceVersion: string }
  readonly spec?: JsonObject
  readonly data?: { readonly value?: string }
  readonly items?: readonly AnsweredObject[]
}

/** Sends requests over one connection, and so to one worker. Rejects when the connection is lost. */
export interface Connection {
  send(method: string, path: string, body?: object): Promise<Answer>
  close(): void
}

export interface ThreadedServer extends AsyncDisposable {
  readonly url: string
  connect(token?: string): Connection
  /** Process ids of the workers. */
  workers(): Promise<readonly number[]>
  readonly errors: readonly string[]
  readonly folder: string
}

/** A server with workers that run the bundled program. */
export async function threadedServer(file: string, flags: readonly string[]): Promise<ThreadedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'krmkit-threads-'))
  const errors: string[] = []
  const log = { info: () => undefined, error: (text: string) => void errors.push(text) }
  const options = await serveOptions(folder, ['--controllers=', ...flags])
  const server = await serve(options, log, { workerProgram: { file, args: ['worker'] } })
  const adminToken = (await readFile(join(folder, 'admin.token'), 'utf8')).trim()
  const connections = new Set<Connection>()
  return {
    url: server.url,
    connect(token = adminToken) {
      const connection = connectTo(server.url, token)
      connections.add(connection)
      return connection
    },
    async workers() {
      const { stdout } = await promisify(execFile)('pgrep', ['-P', String(process.pid), '-f', `${file} worker`])
      return stdout.trim().split('\n').map(Number)
    },
    errors,
    folder,
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.close()
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

function connectTo(url: string, token: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const type = (method: string) => (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
  return {
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': type(method) }
        const outgoing = request(`${url}${path}`, { method, agent, headers }, (incoming) => {
          let text = ''
          incoming.setEncoding('utf8')
          incoming.on('data', (chunk: string) => {
            text += chunk
          })
          incoming.on('error', reject)
          incoming.on('end', () => {
            const isWatch = path.includes('watch=')
            const isJson = !isWatch && incoming.headers['content-type']?.startsWith('application/json') === true
            const json = (isJson ? JSON.parse(text) : {}) as AnsweredObject
            resolve({ status: incoming.statusCode ?? 0, text, json })
          })
        })
        outgoing.on('error', reject)
        outgoing.end(body === undefined ? undefined : JSON.stringify(body))
      }),
    close: () => agent.destroy(),
  }
}
