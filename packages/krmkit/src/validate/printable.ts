/**
 * Characters that move the cursor, change colors, end a line, or reorder text on a terminal: C0, DEL, C1, line separators,
 * and bidirectional controls.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Escapes text of a file for one line of a terminal: control characters become escapes such as `\u001b`.
 *
 * @example
 * import { printable } from 'krmkit/validate'
 * printable('a\r\nkrmkit: valid') // 'a\\u000d\\u000akrmkit: valid'
 */
export function printable(text: string): string {
  return text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Like {@link printable}, for multi-line text. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}
