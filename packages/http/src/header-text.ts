/** Node reads and writes heads with one character for each byte; clients and handlers mean UTF-8. */

const beyondAscii = /[\u0080-\uffff]/

/** Text for a header as node writes it. */
export function wireText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

/** Text of a head as the client meant it. */
export function sentText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}
