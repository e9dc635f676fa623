import { parseIP, validateCIDR } from '@krmkit/base/ip'
import { utf8Length } from '../go-text.ts'
import { readFormatDuration } from './format-duration.ts'

export { readFormatDuration }

/** String formats that kube-apiserver checks, by name without dashes. Other names are ignored. */
export const stringFormats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ['uri', isUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', (text) => text.includes(':') && parseIP(text) !== undefined && !text.includes('%')],
  ['cidr', (text) => validateCIDR(text).length === 0 || (/^\d+\.\d+\.\d+\.\d+\/\d+$/.test(text) && isLooseCidr(text))],
  ['mac', isMac],
  ['uuid', (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid3', (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid4', (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid5', (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ['rgbcolor', isRgbColor],
  ['byte', (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
])

/**
 * The check of a format, or undefined for an unknown one. Dashes in the name are ignored: `date-time` equals `datetime`.
 *
 * @example
 * import { formatCheck } from '@krmkit/meta/formats'
 * formatCheck('date')?.('2026-02-30') // false
 */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  return stringFormats.get(name.replaceAll('-', ''))
}

/** A request URI: absolute, or a path. */
function isUri(text: string): boolean {
  if (text === '' || [...text].some((char) => char <= ' ' || char === '\u007f') || /%(?![0-9a-fA-F]{2})/.test(text)) return false
  if (text.startsWith('/')) return true
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)
  if (scheme === null) return false
  const rest = text.slice((scheme[0] as string).length)
  if (!rest.startsWith('//')) return true
  const authority = rest.slice(2).split(/[/?#]/, 1)[0] as string
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return host.startsWith('[') ? /^\[[0-9a-fA-F:.%]+\](?::\d*)?$/.test(host) : /^[^:[\]<>"]*(?::\d*)?$/.test(host)
}

/** Whether a text is a mail address as in a message header: bare, or in angle brackets after a name. */
function isEmail(text: string): boolean {
  const bracketed = /^[^<>]*<([^<>]*)>$/.exec(text.trim())
  const address = bracketed === null ? text.trim() : (bracketed[1] as string)
  const at = address.lastIndexOf('@')
  if (at <= 0 || at === address.length - 1) return false
  const local = address.slice(0, at)
  const quoted = /^"(?:[^"\\]|\\.)*"$/.test(local)
  if (!quoted && !isDotAtom(local)) return false
  const domain = address.slice(at + 1)
  return /^\[[^[\]]*\]$/.test(domain) || isDotAtom(domain)
}

function isDotAtom(text: string): boolean {
  return text.split('.').every((part) => /^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~\u0080-\uffff-]+$/.test(part))
}

/**
 * Matches one label, in which only the second character may be a hyphen, or several labels of which the last has only
 * letters.
 */
const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\p{S}\p{L}-]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

/** The length limit is in bytes, as in kube-apiserver. */
function isHostname(text: string): boolean {
  if (text.length > 255 || utf8Length(text) > 255 || !hostname.test(text)) return false
  return text.split('.').every((label) => utf8Length(label) <= 63)
}

/** Allows leading zeros, as kube-apiserver does. */
function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)
}

function isLooseCidr(text: string): boolean {
  const [address = '', bits = ''] = text.split('/')
  return isIpv4(address) && /^\d{1,2}$/.test(bits) && Number(bits) <= 32
}

function isMac(text: string): boolean {
  return [6, 8, 20].some((length) => {
    const colons = new RegExp(`^[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\\1[0-9a-fA-F]{2}){${length - 2}}$`)
    const dots = new RegExp(`^[0-9a-fA-F]{4}(?:\\.[0-9a-fA-F]{4}){${length / 2 - 1}}$`)
    return colons.test(text) || dots.test(text)
  })
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3)
  return (10 - (sum % 10)) % 10 === Number(digits[12])
}

const cardNumbers =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!cardNumbers.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

function isRgbColor(text: string): boolean {
  const found = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)
  return found?.slice(1).every((part) => String(Number(part)) === part && Number(part) <= 255) ?? false
}

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  return found !== null && isDay(Number(found[1]), Number(found[2]), Number(found[3]))
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day <= (month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31)
}

function isDateTime(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/.exec(text)
  if (found === null) return false
  const [, year, month, day, hour, minute, second] = found.map(Number)
  return (
    isDay(year as number, month as number, day as number) &&
    (hour as number) < 24 &&
    (minute as number) < 60 &&
    (second as number) < 60
  )
}

function isDuration(text: string): boolean {
  return readFormatDuration(text) !== undefined
}
