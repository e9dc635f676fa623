import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of bytes discarded from a body whose reading has begun; above the default limit of a body. */
export const discardBytes = 4 * 1024 * 1024
/**
 * Maximum number of bytes discarded from a body that is never read, such as the body of an unauthenticated request. As in kube-apiserver.
 */
export const unreadBytes = 256 * 1024
const discardMs = 5000
/** Time between the last byte of the response and the end of the connection, so that the client can read the response. */
const lingerMs = 500

/**
 * Bounds the rest of a body that the handler leaves unread. Within the bounds, the connection serves the next request; above them, it
 * closes. Call this function before the response is written. With `isBodyRead`, the bounds apply only after the end of the response.
 *
 * The bounds count bytes of the connection, because chunks may consist mostly of framing, and the size of a chunk may have any number of
 * leading zeros.
 */
export function limitUnreadBody(message: IncomingMessage, response: ServerResponse, isBodyRead: boolean): void {
  // Read the socket now, because a finished response no longer has it.
  const { socket } = message
  const limit = isBodyRead ? discardBytes : unreadBytes
  let from = socket.bytesRead
  let payload = 0
  let isAbove = false
  const listen = () => socket.on('data', check)
  const stop = () => {
    socket.off('resume', listen).off('data', check)
    message.off('data', count)
  }
  const end = () => {
    isAbove = true
    stop()
    message.pause()
    // The parser may be within a chunk header, where it does not pause the socket.
    socket.pause()
    if (!response.shouldKeepAlive) return
    if (response.writableFinished) linger(socket)
    else response.once('finish', () => linger(socket))
  }
  const check = () => {
    if (payload > limit || socket.bytesRead - from > limit) end()
  }
  // In runtimes other than Node, sockets do not emit `data`.
  const count = (chunk: Buffer) => {
    payload += chunk.length
    check()
  }
  const start = () => {
    // With this listener node reads the socket as a stream, which stays paused when it was paused before.
    if (socket.isPaused()) socket.once('resume', listen)
    else listen()
    message.on('data', count).once('end', stop).once('close', stop).resume()
  }
  // Node discards an unread body without counting its bytes. The reader of a body counts them itself.
  if (!isBodyRead) start()
  response.once('finish', () => {
    if (message.complete || message.destroyed || !response.shouldKeepAlive || isAbove) return
    const timer = setTimeout(end, discardMs)
    const clear = () => clearTimeout(timer)
    message.once('end', clear).once('close', clear)
    if (!isBodyRead) return
    from = socket.bytesRead
    start()
  })
}

/**
 * Writes the body of a response after which the connection closes, while its request is still being received; the body has the length of
 * the content-length. Node destroys the socket at the end of the response; the kernel then resets a connection with unread input, and the
 * client may lose the response. Therefore the response ends when the request has ended, at most `lingerMs` after the body has been sent.
 */
export function endLastResponse(response: ServerResponse, body: Uint8Array): void {
  const end = () => response.end()
  let timer: NodeJS.Timeout | undefined
  response.once('close', () => clearTimeout(timer))
  response.req.once('end', end)
  response.write(body, (error) => {
    if (!error) timer = setTimeout(end, lingerMs)
  })
}

/** Closes a connection whose client still sends: stops reading, then destroys the socket after `lingerMs`. */
function linger(socket: Socket): void {
  socket.pause()
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
