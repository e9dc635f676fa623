/** A failure of a command; its message is printed as an error. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
}

/** The error of a Status. */
export function statusError(text: string): TerminalError {
  const { message = text, reason = '' } = JSON.parse(text) as { message?: string; reason?: string }
  return new TerminalError(reason === '' ? `Error from server: ${message}` : `Error from server (${reason}): ${message}`)
}
