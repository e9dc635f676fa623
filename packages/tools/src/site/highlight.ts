/** Code blocks in colours: comments, strings, numbers and keywords, by one expression per language. */
const keywords =
  'abstract|as|async|await|break|case|catch|class|const|continue|declare|default|delete|else|enum|export|extends|false|finally|for|from|' +
  'function|get|if|implements|import|in|instanceof|interface|keyof|let|new|null|of|readonly|return|set|static|switch|this|throw|true|' +
  'try|type|typeof|undefined|using|void|while|yield'
const strings = '\'(?:[^\'\\\\\\n]|\\\\.)*\'|"(?:[^"\\\\\\n]|\\\\.)*"|`(?:[^`\\\\]|\\\\.)*`'
const script = `(?<comment>//[^\\n]*|/\\*[\\s\\S]*?\\*/)|(?<string>${strings})|(?<keyword>\\b(?:${keywords})\\b)|(?<number>\\b\\d[\\d_.]*n?\\b)`
const data = '(?<comment>(?<=^|\\s)#[^\\n]*)|(?<string>\'[^\'\\n]*\'|"(?:[^"\\\\\\n]|\\\\.)*")'
const languages = new Map<string, RegExp>([
  ...['ts', 'tsx', 'js', 'mjs', 'json', 'typescript'].map((name) => [name, new RegExp(script, 'g')] as const),
  ...['yaml', 'yml', 'sh', 'bash'].map((name) => [name, new RegExp(data, 'gm')] as const),
])

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** @returns HTML of a code block in a language; an unknown language has one colour */
export function highlight(code: string, language: string): string {
  const pattern = languages.get(language)
  if (pattern === undefined) return escapeHtml(code)
  let html = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}
