/** Removes the markers `¦` from a text and returns the `line:column` of each. */
export function extractMarkers(marked: string): { readonly text: string; readonly places: readonly string[] } {
  const places: string[] = []
  const parts = marked.split('¦')
  let before = ''
  for (const part of parts.slice(0, -1)) {
    before += part
    const lines = before.split('\n')
    places.push(`${lines.length}:${(lines.at(-1) as string).length + 1}`)
  }
  return { text: parts.join(''), places }
}
