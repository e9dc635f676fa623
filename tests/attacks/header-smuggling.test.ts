import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { createCertificateAuthority, type IssuedCertificate } from '@krmkit/authentication/testing'
import { type Listener, listen } from '@krmkit/http'
import { seededRandom, systemClock } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AttackedServer, startAttackedServer, staticToken } from './attacked-server.ts'

/** Smuggled proxy headers: raw bytes over sockets that client libraries would not send. */

let target: AttackedServer
let listening: Listener
beforeAll(async () => {
  target = await startAttackedServer()
  const serving = createCertificateAuthority({ name: 'serving', clock: systemClock, random: seededRandom(1) })
  const { certificate, key } = serving.issue({ usage: 'server', hosts: ['127.0.0.1'] })
  listening = await listen(target.server, {
    tls: { certificate, key, clientCa: `${target.people.certificate}${target.front.authority.certificate}` },
  })
})
afterAll(async () => {
  await listening.close({ graceMs: 0 })
  await target[Symbol.asyncDispose]()
})

const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })

/** Sends raw bytes and returns everything that the server sends until it closes the connection. */
function exchange(bytes: string, shown?: IssuedCertificate): Promise<string> {
  return new Promise((resolve, reject) => {
    const certificate = shown === undefined ? {} : { cert: shown.certificate, key: shown.key }
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port: listening.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...certificate },
      () => socket.write(bytes, 'latin1'),
    )
    let text = ''
    socket.on('data', (part) => {
      text += part.toString()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve(text) : reject(error)))
    socket.on('close', () => resolve(text))
  })
}
const requestWith = (...lines: string[]) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...lines,
    '',
    body,
  ].join('\r\n')
const userOf = async (lines: string[], shown?: IssuedCertificate) => {
  const text = await exchange(requestWith(...lines), shown)
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
    username: /"username":"([^"]*)"/.exec(text)?.[1],
    text,
  }
}

describe('over HTTP/1.1', () => {
  it('control: proxy headers are accepted in any case', async () => {
    for (const name of ['X-Remote-User', 'x-remote-user', 'X-REMOTE-USER'])
      expect(await userOf([`${name}: alice`], target.front.proxy)).toMatchObject({ status: 201, username: 'alice' })
  })

  it('without a certificate no spelling of the headers authenticates', async () => {
    for (const name of ['X-Remote-User', 'x-remote-user', 'X-REMOTE-USER', 'X_Remote_User', 'X-Remote-User\t', 'X-Remote-User '])
      expect([400, 403]).toContain((await userOf([`${name}: admin`, 'X-Remote-Group: system:masters'])).status)
  })

  it('folded lines neither extend a user name nor hide a header', async () => {
    const { proxy } = target.front
    for (const fold of ['\r\n ', '\r\n\t', '\n ', '\n\t']) {
      const folded = await userOf([`X-Remote-User: alice${fold}admin`], proxy)
      expect(folded.username === undefined || !folded.username.startsWith('admin')).toBe(true)
      expect((await userOf([`X-Harmless: a${fold}X-Remote-User: admin`], proxy)).username).toBeUndefined()
    }
  })

  it('line breaks in a value do not start a header', async () => {
    for (const end of ['\n', '\r', '\u0000', '\u000b', '\u0085', '\u2028'])
      expect((await userOf([`X-Harmless: a${end}X-Remote-User: admin`], target.front.proxy)).username).toBeUndefined()
  })

  it('duplicate user names or tokens are rejected', async () => {
    const lines = ['X-Remote-User: alice', 'X-Remote-Group: dev', 'X-Remote-User: admin']
    expect(await userOf(lines, target.front.proxy)).toMatchObject({ status: 400, username: undefined })
    const tokens = [`Authorization: Bearer wrong`, `Authorization: Bearer ${staticToken}`]
    expect(await userOf(tokens)).toMatchObject({ status: 401 })
  })

  it('conflicting lengths do not smuggle a second request', async () => {
    const inner = requestWith('X-Remote-User: admin', 'X-Remote-Group: system:masters')
    for (const line of ['Transfer-Encoding: chunked', `Content-Length: ${body.length + inner.length}`]) {
      const text = await exchange(`${requestWith(line)}${inner}`)
      expect(text).not.toContain('system:masters')
      expect(text).toMatch(/^HTTP\/1\.1 (400|403)/)
    }
  })

  it('a client certificate does not authorize proxy headers', async () => {
    const bob = target.people.issue({ commonName: 'front-proxy', organizations: ['dev'] })
    expect(await userOf(['X-Remote-User: admin', 'X-Remote-Group: system:masters'], bob)).toMatchObject({
      username: 'front-proxy',
      text: expect.not.stringContaining('system:masters'),
    })
  })
})

describe('over HTTP/2', () => {
  const sendHeaders = (headers: Record<string, string | readonly string[]>, shown?: IssuedCertificate) =>
    new Promise<{ status: number; username: string | undefined }>((resolve, reject) => {
      const certificate = shown === undefined ? {} : { cert: shown.certificate, key: shown.key }
      const session = connectHttp2(listening.url, { rejectUnauthorized: false, ...certificate })
      session.on('error', reject)
      const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json', ...headers })
      let status = 0
      let text = ''
      stream.on('response', (head) => {
        status = Number(head[':status'])
      })
      stream.on('data', (part: Buffer) => {
        text += part.toString()
      })
      stream.on('error', () => undefined)
      stream.on('close', () => {
        session.destroy()
        resolve({ status, username: /"username":"([^"]*)"/.exec(text)?.[1] })
      })
      stream.end(body)
    })

  it('control: proxy headers are accepted', async () => {
    expect(await sendHeaders({ 'x-remote-user': 'alice' }, target.front.proxy)).toEqual({ status: 201, username: 'alice' })
  })

  it('without a certificate repeated headers are ignored', async () => {
    for (const [value, status] of [
      ['admin', 403],
      [['admin', 'admin'], 400],
    ] as const)
      expect(await sendHeaders({ 'x-remote-user': value, 'x-remote-group': 'system:masters' })).toEqual({
        status,
        username: undefined,
      })
  })

  it('joined or encoded names are other names', async () => {
    for (const name of ['x_remote_user', 'x-remote-user-', 'x%2dremote%2duser'])
      expect(await sendHeaders({ [name]: 'admin' }, target.front.proxy)).toEqual({ status: 401, username: undefined })
  })

  it('concurrent streams keep their own headers', async () => {
    const [alice, none] = await Promise.all([
      sendHeaders({ 'x-remote-user': 'alice' }, target.front.proxy),
      sendHeaders({}, target.front.proxy),
    ])
    expect([alice.username, none.status]).toEqual(['alice', 401])
  })
})
