import { BaseError } from './base-error.ts'

/** @see RFC 7468 */

const beginLine = /^-----BEGIN ([A-Z0-9][A-Z0-9 ]{0,63})-----[ \t]*$/
const boundary = /-----(?:BEGIN|END)/
const base64Line = /^[A-Za-z0-9+/]*={0,2}[ \t]*$/
const headerLine = /^(?:[A-Za-z0-9-]+:.*|[ \t]+\S.*|[ \t]*)$/

/**
 * Reads the blocks of one label, each with its boundary lines. Text between blocks and blocks of other labels are ignored. A
 * malformed block is an error, because a partially parsed bundle would make the server trust or reject the wrong
 * certificates.
 *
 * @throws BaseError `InvalidPem` with the line number.
 * @example
 * import { pemBlocks } from '@krmkit/base/pem'
 * const bundle = '-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n'
 * pemBlocks(bundle, 'CERTIFICATE').length // 1
 */
export function pemBlocks(text: string, label: string | readonly string[]): string[] {
  const labels = typeof label === 'string' ? [label] : label
  const blocks: string[] = []
  let open: { readonly label: string; readonly lines: string[]; readonly line: number } | undefined
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    if (open !== undefined && line.trimEnd() === `-----END ${open.label}-----`) {
      if (!isBody(open.lines)) throw malformed(open.line, `the block ${open.label} is not base64`)
      const whole = [`-----BEGIN ${open.label}-----`, ...open.lines.map((each) => each.trimEnd()), `-----END ${open.label}-----`]
      if (labels.includes(open.label)) blocks.push(`${whole.join('\n')}\n`)
      open = undefined
    } else if (boundary.test(line)) {
      const begun = beginLine.exec(line)?.[1]
      if (open !== undefined) throw malformed(open.line, `the block ${open.label} does not end`)
      if (begun === undefined) throw malformed(index + 1, 'malformed PEM boundary')
      open = { label: begun, lines: [], line: index + 1 }
    } else open?.lines.push(line)
  }
  if (open !== undefined) throw malformed(open.line, `the block ${open.label} does not end`)
  return blocks
}

/** Whether lines are a body: optional headers, ended by an empty line, then base64 in complete groups of four. */
function isBody(lines: readonly string[]): boolean {
  let from = 0
  if (lines[0]?.includes(':') === true) {
    while (from < lines.length && lines[from]?.trim() !== '' && headerLine.test(lines[from] as string)) from++
  }
  const body = lines.slice(from).map((line) => line.trim())
  const joined = body.join('')
  return joined !== '' && joined.length % 4 === 0 && body.every((line) => base64Line.test(line)) && base64Line.test(joined)
}

function malformed(line: number, what: string): BaseError {
  return new BaseError({ code: 'InvalidPem', message: `line ${line}: ${what}` })
}
