/** Node reads and writes heads with one character for each byte; clients and handlers mean UTF-8. */

const beyondAscii = /[\u0080-\uffff]/
/** Needs no change: printable, no white space around it. */
const plainText = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Text for a header as node writes it. Node refuses characters that have no place in a header. */
export function wireText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

/**
 * The same for the header of an answer, which always can be sent: as in the stock server, characters that have no place in a header become
 * spaces, and white space around it goes. Not for requests: what names a user must not change.
 */
export function answerText(text: string): string {
  if (plainText.test(text)) return text
  let sent = ''
  for (const byte of Buffer.from(text, 'utf8'))
    sent += (byte < 0x20 && byte !== 0x09) || byte === 0x7f ? ' ' : String.fromCharCode(byte)
  return sent.replace(/^[ \t]+|[ \t]+$/g, '')
}

/** Whether a header can be sent under this name; others are left out, as in the stock server. */
export function isSendable(name: string): boolean {
  return fieldName.test(name)
}

/** Text of a head as the client meant it. */
export function sentText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}
