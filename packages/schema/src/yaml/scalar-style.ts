import { resolveScalar } from './resolve.ts'
import { isTimestamp } from './timestamp.ts'

/** Style of a text in printed YAML: the plainest that parses to the same text. */

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal'

/** @param simpleKey whether the text is a key on the same line as its value. */
export function scalarStyle(text: string, simpleKey: boolean): ScalarStyle {
  if (text === '') return 'double'
  const facts = analyze(text)
  if (text.includes('\n')) {
    if (!simpleKey && facts.blockAllowed) return 'literal'
    return 'double'
  }
  if (simpleKey && facts.multiline) return 'double'
  const meansText = resolveScalar(text, '', true).type === 'text' && !base60.test(text) && !isTimestamp(text)
  if (!meansText) return 'double'
  if (facts.plainAllowed) return 'plain'
  return facts.singleAllowed ? 'single' : 'double'
}

/** Matches base-60 numbers of YAML 1.1, which the reader does not support. */
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

interface TextFacts {
  readonly multiline: boolean
  readonly plainAllowed: boolean
  readonly singleAllowed: boolean
  readonly blockAllowed: boolean
}

const startIndicators =
  /^(?:[#,[\]{}&*!|>'"%@`]|[?:](?:[ \t\r\n\u0085\u2028\u2029]|$)|-(?:[ \t\r\n\u0085\u2028\u2029]|$)|---|\.\.\.)/
const innerIndicators = /.:(?:[ \t\r\n\u0085\u2028\u2029]|$)|[ \t\r\n\u0085\u2028\u2029]#/s
const breaks = '\\r\\n\\u0085\\u2028\\u2029'
const hasBreak = new RegExp(`[${breaks}]`)
const startsBlank = new RegExp(`^[ ${breaks}]`)
const endsBlank = new RegExp(`[ ${breaks}]$`)
const breakThenSpace = new RegExp(`[${breaks}] `)
const spaceThenBreak = new RegExp(` [${breaks}]`)

function analyze(text: string): TextFacts {
  const unprintable = unprintableChar.test(text)
  const multiline = hasBreak.test(text)
  const quoted = breakThenSpace.test(text) || spaceThenBreak.test(text) || unprintable
  const indicators = startIndicators.test(text) || innerIndicators.test(text)
  return {
    multiline,
    plainAllowed: !quoted && !multiline && !indicators && !startsBlank.test(text) && !endsBlank.test(text),
    singleAllowed: !quoted,
    blockAllowed: !spaceThenBreak.test(text) && !unprintable && !text.endsWith(' '),
  }
}

/** As in kube-apiserver, tabs and characters beyond U+FFFF count as unprintable. */
const unprintableChar = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/

export function isUnprintable(char: string): boolean {
  return unprintableChar.test(char)
}
