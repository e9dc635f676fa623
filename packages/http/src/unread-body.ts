import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes of an unread body that are discarded before the connection closes: above the largest body of the default limits. */
export const discardBytes = 4 * 1024 * 1024
const discardMs = 5000
/** Time between the last byte of the response and the end of the connection, so that the client gets to read the response. */
const lingerMs = 500

/**
 * Bounds the rest of a body that the handler leaves unread. Within the bounds the connection serves the next request; above them it
 * closes. Call it before the response is written. With `isBodyRead` the bounds apply from the end of the response on.
 */
export function limitUnreadBody(message: IncomingMessage, response: ServerResponse, isBodyRead: boolean): void {
  // Read now: a finished response has no socket.
  const { socket } = message
  let budget = discardBytes
  const end = () => {
    message.off('data', count).pause()
    if (!response.shouldKeepAlive) return
    if (response.writableFinished) linger(socket)
    else response.once('finish', () => linger(socket))
  }
  const count = (chunk: Buffer) => {
    budget -= chunk.length
    if (budget < 0) end()
  }
  // Node discards an unread body without counting it. A body that is being read is left to its reader.
  if (!isBodyRead) message.on('data', count)
  response.once('finish', () => {
    if (message.complete || message.destroyed || !response.shouldKeepAlive || budget < 0) return
    const timer = setTimeout(end, discardMs)
    const stop = () => clearTimeout(timer)
    message.once('end', stop).once('close', stop)
    if (isBodyRead) message.on('data', count).resume()
  })
}

/**
 * Writes the body of a response after which the connection closes, while its request is still being received; the body has the length of
 * the content-length. Node destroys the socket at the end of the response; the kernel then resets a connection with unread input, and the
 * client may lose the response. Therefore the end waits for that of the request, at most `lingerMs` after the body has been sent.
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
