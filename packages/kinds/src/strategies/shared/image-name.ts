/** Names of container images. */

const maxName = 255
const part = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const domainPattern =
  /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*)(:[0-9]+)?$/
const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/

/**
 * The tag of an image: `latest` if the name has neither tag nor digest.
 *
 * @returns undefined if the name is malformed or has a digest only.
 */
export function imageTag(image: string): string | undefined {
  const at = image.indexOf('@')
  const digest = at < 0 ? undefined : image.slice(at + 1)
  if (digest !== undefined && !digestPattern.test(digest)) return undefined
  let name = at < 0 ? image : image.slice(0, at)
  const colon = name.lastIndexOf(':')
  let tag: string | undefined
  if (colon > name.lastIndexOf('/')) {
    tag = name.slice(colon + 1)
    name = name.slice(0, colon)
    if (!tagPattern.test(tag)) return undefined
  }
  if (!isRepository(name)) return undefined
  return tag ?? (digest === undefined ? 'latest' : undefined)
}

function isRepository(name: string): boolean {
  if (name.length === 0 || name.length > maxName) return false
  const parts = name.split('/')
  const first = parts[0] ?? ''
  const hasDomain = parts.length > 1 && (/[.:A-Z]/.test(first) || first === 'localhost')
  if (hasDomain && !domainPattern.test(first)) return false
  // The length counts with the domain, and the folder, of the default registry.
  const prefix = hasDomain ? '' : parts.length === 1 ? 'docker.io/library/' : 'docker.io/'
  if (prefix.length + name.length > maxName) return false
  return parts.slice(hasDomain ? 1 : 0).every((step) => part.test(step))
}
