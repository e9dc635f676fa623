import type { ApiRequest } from '@krmkit/protocol'

/**
 * Source addresses of a request: those in `X-Forwarded-For` and `X-Real-Ip`, then the address of the connection. Only the last is
 * trustworthy.
 */
export function sourceAddresses({ headers, peer }: ApiRequest): readonly string[] {
  const found: string[] = []
  const add = (text: string): void => {
    const address = text.trim()
    if (address !== '' && address.length <= 64 && /^[0-9A-Fa-f:.%\w]+$/.test(address) && !found.includes(address))
      found.push(address)
  }
  for (const value of listOf(headers['x-forwarded-for'])) for (const each of value.split(',')) add(each)
  for (const value of listOf(headers['x-real-ip'])) add(value)
  if (peer.address !== undefined) add(peer.address.replace(/^::ffff:/, ''))
  return found
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
