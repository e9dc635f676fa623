import { describe, expect, it } from 'vitest'
import { pemBlocks } from './pem.ts'

const block = (label: string, body = 'QUFB\nQUFB') => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`
const certificate = block('CERTIFICATE')

describe('pemBlocks', () => {
  it('reads the blocks of a label and ignores comments and other blocks', () => {
    const text = `# first\n${certificate}Subject: CN=a\n${block('PRIVATE KEY')}${block('CERTIFICATE', 'QkJC').replaceAll('\n', '\r\n')}`
    expect(pemBlocks(text, 'CERTIFICATE')).toEqual([certificate, block('CERTIFICATE', 'QkJC')])
    expect(pemBlocks(text, ['PRIVATE KEY', 'CERTIFICATE'])).toHaveLength(3)
    expect(pemBlocks('no blocks', 'CERTIFICATE')).toEqual([])
  })

  it('reads blocks with headers', () => {
    const text = block('RSA PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\nQUFB')
    expect(pemBlocks(text, 'RSA PRIVATE KEY')).toHaveLength(1)
  })

  it.each([
    ['a body that is no base64', certificate + block('CERTIFICATE', '!!!!'), 'line 5: the block CERTIFICATE is not base64'],
    ['a body of incomplete groups', block('CERTIFICATE', 'QUF'), 'line 1: the block CERTIFICATE is not base64'],
    ['padding inside of the body', block('CERTIFICATE', 'QQ==\nQUFB'), 'line 1: the block CERTIFICATE is not base64'],
    ['an empty body', block('CERTIFICATE', ''), 'line 1: the block CERTIFICATE is not base64'],
    ['a block without an end', `${certificate}-----BEGIN CERTIFICATE-----\nQUFB\n`, 'line 5: the block CERTIFICATE does not end'],
    [
      'a block inside of another',
      `-----BEGIN CERTIFICATE-----\nQUFB\n${certificate}`,
      'line 1: the block CERTIFICATE does not end',
    ],
    ['another end', '-----BEGIN CERTIFICATE-----\nQUFB\n-----END KEY-----\n', 'line 1: the block CERTIFICATE does not end'],
    ['an end without a beginning', `${certificate}-----END CERTIFICATE-----\n`, 'line 5: malformed PEM boundary'],
    [
      'text on the line of a boundary',
      certificate.replace('CERTIFICATE-----\n', 'CERTIFICATE----- x\n'),
      'line 1: malformed PEM boundary',
    ],
    ['a broken block of another label', certificate + block('PRIVATE KEY', '%'), 'line 5: the block PRIVATE KEY is not base64'],
  ])('rejects %s', (_, text, message) => {
    expect(() => pemBlocks(text, 'CERTIFICATE')).toThrow(message)
  })
})
