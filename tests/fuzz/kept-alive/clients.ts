import type { ClientHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { RandomChoices } from '@krmkit/base/random-choices'
import type { KeptRequest } from './requests.ts'
import { type ReadResponse, ResponseReader } from './response-reader.ts'

/** Requests of one connection, and what is wrong with their responses. */
export interface Sending {
  readonly from: number
  readonly to: number
  readonly requestAt: (index: number) => KeptRequest
  readonly random: RandomChoices
  /** Called with each response; `wrong` is what distinguishes it from the expected one. */
  onAnswer(response: ReadResponse, wrong: string | undefined): void
  onUnanswered(request: KeptRequest, reason: string): void
}

/** A connection without progress for so long has lost a request. */
const stalledMs = 20_000

/**
 * Sends requests over a connection of HTTP/1.1: each one after the response before, or pipelined; to a client that reads at once or
 * slowly; with bodies at once or in pieces.
 *
 * @returns the index after the last request that was answered, or is not because the connection has closed
 */
export function sendOverHttp1(socket: Socket, sending: Sending): Promise<number> {
  const { from, to, requestAt, random } = sending
  const depth = random.pick([1, 1, 2, 8, 32])
  const isSlow = random.chance(30)
  const isSplit = random.chance(30)
  const pending: KeptRequest[] = []
  let at = from
  let next = from
  return new Promise((resolve) => {
    const settle = (reason?: string) => {
      clearInterval(stalled)
      socket.removeAllListeners('close').destroy()
      if (reason !== undefined) sending.onUnanswered(requestAt(at++), reason)
      resolve(at)
    }
    const stalled = watchProgress(() => at, settle)
    const fill = () => {
      while (next < to && next - at < depth && !socket.writableNeedDrain) {
        const request = requestAt(next++)
        pending.push(request)
        write(socket, request, isSplit)
      }
    }
    const reader = new ResponseReader(
      () => pending[0]?.method === 'HEAD',
      (response) => {
        const request = pending.shift()
        if (request === undefined) throw new Error('a response to no request')
        at++
        sending.onAnswer(response, faultOf(request, response))
        if (isSlow && random.chance(5)) {
          socket.pause()
          setTimeout(() => socket.resume(), random.below(20))
        }
      },
    )
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.read(chunk)
      } catch (error) {
        settle(String(error))
      }
      if (at === to) settle()
      else fill()
    })
    socket.on('drain', fill)
    socket.on('error', (error) => settle(String(error)))
    socket.on('close', () => settle('the connection is closed'))
    fill()
  })
}

function write(socket: Socket, { method, target, headers, body }: KeptRequest, isSplit: boolean): void {
  const length = body.reduce((sum, part) => sum + part.length, 0)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const announced = length === 0 ? '' : `Content-Length: ${length}\r\n`
  if (!isSplit) socket.cork()
  socket.write(`${method} ${target} HTTP/1.1\r\nHost: h\r\n${announced}${lines.join('')}\r\n`)
  for (const part of body) socket.write(part)
  if (!isSplit) socket.uncork()
}

/**
 * Sends requests over a session of HTTP/2, some at a time.
 *
 * @returns the index after the last request that was sent
 */
export function sendOverHttp2(session: ClientHttp2Session, sending: Sending): Promise<number> {
  const { from, to, requestAt, random } = sending
  const depth = random.pick([1, 4, 16, 60])
  const isSlow = random.chance(30)
  let settled = from
  let next = from
  let failure = ''
  return new Promise((resolve) => {
    const stalled = watchProgress(
      () => settled,
      (reason) => session.destroy(new Error(reason)),
    )
    const proceed = () => {
      while (next < to && next - settled < depth && !session.destroyed && !session.closed) open(requestAt(next++))
      if (settled < next) return
      clearInterval(stalled)
      session.destroy()
      resolve(next)
    }
    const open = (request: KeptRequest) => {
      const stream = session.request(
        { ':method': request.method, ':path': request.target, ...request.headers },
        { endStream: request.body.length === 0 },
      )
      const response = { status: 0, id: '', bytes: 0 }
      stream.on('response', (headers) => {
        response.status = headers[':status'] ?? 0
        response.id = String(headers['audit-id'] ?? '')
      })
      stream.on('data', (chunk: Buffer) => {
        response.bytes += chunk.length
        if (!isSlow || !random.chance(5)) return
        stream.pause()
        setTimeout(() => stream.resume(), random.below(20))
      })
      stream.on('error', (error) => {
        failure = String(error)
      })
      let isSettled = false
      const settle = () => {
        if (isSettled) return
        isSettled = true
        settled++
        if (response.status === 0) sending.onUnanswered(request, failure || `reset with ${stream.rstCode}`)
        else sending.onAnswer(response, faultOf(request, response))
        proceed()
      }
      // Node never closes a stream that the server has reset before all of its body was sent.
      stream.on('end', () => response.status !== 0 && settle())
      stream.on('close', settle)
      for (const part of request.body) stream.write(part)
      if (request.body.length > 0) stream.end()
    }
    session.on('error', (error) => {
      failure = String(error)
    })
    proceed()
  })
}

function watchProgress(progress: () => number, onStalled: (reason: string) => void): NodeJS.Timeout {
  let last = -1
  return setInterval(() => {
    if (progress() === last) onStalled(`no response within ${stalledMs} ms`)
    last = progress()
  }, stalledMs)
}

function faultOf({ index, method, target, statuses, answerBytes }: KeptRequest, response: ReadResponse): string | undefined {
  const { status, id, bytes } = response
  const request = `request ${index}, ${method} ${target}`
  if (id !== String(index)) return `${request}: the response is that of request ${id} (${status})`
  if (!statuses.includes(status)) return `${request}: answered with ${status}`
  if (answerBytes !== undefined && bytes !== answerBytes) return `${request}: ${bytes} bytes instead of ${answerBytes}`
  return undefined
}
