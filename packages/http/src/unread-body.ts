import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** What is still read of a body that nothing wants: enough for the largest body of the default limits. */
export const discardBytes = 4 * 1024 * 1024
const discardMs = 5000
/** Between the end of the answer and that of the connection, so that the client gets to read the answer. */
const lingerMs = 500

/**
 * Bounds what a client may send of its body once the answer is made: within the bounds the connection serves the next request, above them
 * it ends. Called before the answer is written; a body that is `taken` counts from the end of the answer on.
 */
export function boundUnreadBody(message: IncomingMessage, response: ServerResponse, taken: boolean): void {
  // The response has let go of it when it has finished.
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
  // What node discards itself it does not count: bodies that flow already are left to their readers.
  if (!taken) message.on('data', count)
  response.once('finish', () => {
    if (message.complete || message.destroyed || budget < 0) return
    const timer = setTimeout(end, discardMs)
    const stop = () => clearTimeout(timer)
    message.once('end', stop).once('close', stop)
    if (taken) message.on('data', count).resume()
  })
}

/** Ends a connection whose client still sends: it is read no longer, and cut off once the client had time for what it was sent. */
function linger(socket: Duplex): void {
  socket.pause()
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
