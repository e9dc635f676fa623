/**
 * Writes the entries of the `CHANGELOG.md` of a package: the text of each changeset. All packages are released together, so the versions of
 * dependencies are no news, and the commit of a changeset is found by its text.
 */
module.exports = {
  getReleaseLine({ summary }) {
    const [first, ...rest] = summary.trim().split('\n')
    return [`- ${first}`, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n')
  },
  getDependencyReleaseLine() {
    return ''
  },
}
