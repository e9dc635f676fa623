import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes of an unread body that are discarded before the connection closes: above the largest body of the default limits. */
export const discardBytes = 4 * 1024 * 1024
const discardMs = 5000
/** Time between the end of the response and that of the connection, so that the client gets to read the response. */
const lingerMs = 500

/**
 * Bounds the rest of a body that the handler leaves unread. Within the bounds the connection serves the next request; above them, and
 * after a last response, it closes. Call it before the response is written. With `isBodyRead` the bounds apply from the end of the
 * response on.
 */
export function limitUnreadBody(message: IncomingMessage, response: ServerResponse, isBodyRead: boolean): void {
  // Read now: a finished response has no socket.
  const { socket } = message
  let budget = discardBytes
  const end = () => {
    message.off('data', count).pause()
    if (response.writableFinished) linger(socket)
    else response.once('finish', () => linger(socket))
  }
  const count = (chunk: Buffer) => {
    budget -= chunk.length
    if (budget < 0) end()
  }
  // Node discards an unread body without counting it. A body that is being read is left to its reader.
  if (!isBodyRead) message.on('data', count)
  // Before node's own listener, which closes the connection or goes on with it.
  response.prependOnceListener('finish', () => {
    if (message.complete || message.destroyed) return
    // Node destroys the socket after a last response. The kernel then resets the connection, and the response can be lost.
    if (!response.shouldKeepAlive) socket.destroySoon = end
    if (!response.shouldKeepAlive || budget < 0) return
    const timer = setTimeout(end, discardMs)
    const stop = () => clearTimeout(timer)
    message.once('end', stop).once('close', stop)
    if (isBodyRead) message.on('data', count).resume()
  })
}

/** Closes a connection whose client still sends: stops reading, then destroys the socket after `lingerMs`. */
function linger(socket: Socket): void {
  socket.pause()
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
