import { CertificateError, type CertificateRequest } from '@krmkit/certificates'
import {
  type CertificateInfo,
  decodeCertificate,
  decodeCertificateRequest,
  encodeBase64,
  readPemBlocks,
  readSigningRequest,
  writePem,
} from '@krmkit/certificates/request'
import { documentsOf, type ManifestFile } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import { findManifests } from '../offline/manifest-files.ts'
import type { Terminal } from '../offline/terminal.ts'

/** The members of a CertificateSigningRequest that these commands read. */
export interface RequestObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: { readonly name?: string }
  readonly spec?: {
    readonly request?: string
    readonly signerName?: string
    readonly usages?: readonly string[]
    readonly expirationSeconds?: number
    readonly username?: string
  }
  readonly status?: Readonly<Record<string, unknown>>
}

/** A request, a certificate or an unreadable entry of a file. */
export type Input = { /** Path and position or name. */ readonly where: string } & (
  | {
      readonly kind: 'request'
      readonly request: CertificateRequest
      /** The value of `spec.request`. */
      readonly base64: string
      /** Undefined for a PEM request. */
      readonly object: RequestObject | undefined
    }
  | { readonly kind: 'certificate'; readonly certificate: CertificateInfo }
  | { readonly kind: 'unreadable'; readonly message: string }
)

/** Reads all inputs. @throws CliError `FileFailed` for a path that cannot be read. */
export function readInputs(paths: readonly string[], terminal: Pick<Terminal, 'stdin'>): Input[] {
  const { files, unreadable } = findManifests(paths, terminal)
  const [first] = unreadable
  if (first !== undefined) throw new CliError({ code: 'FileFailed', message: `${first.path}: ${first.message}` })
  return files.flatMap((file) => {
    const found = isPem(file.text) ? pemInputs(file) : objectInputs(file)
    return found.length > 0
      ? found
      : [{ where: file.path, kind: 'unreadable' as const, message: 'holds no request and no certificate' }]
  })
}

function isPem(text: string): boolean {
  return /^-----BEGIN /m.test(text)
}

function pemInputs({ path, text }: ManifestFile): Input[] {
  const blocks = readPemBlocks(text).filter(({ type }) => type === 'CERTIFICATE REQUEST' || type === 'CERTIFICATE')
  return blocks.map(({ type, bytes }, index) => {
    const where = blocks.length === 1 ? path : `${path} (${index + 1})`
    return guarded(where, () => {
      if (type === 'CERTIFICATE') return { where, kind: 'certificate', certificate: decodeCertificate(bytes) }
      const base64 = encodeBase64(new TextEncoder().encode(writePem(type, bytes)))
      return { where, kind: 'request', request: decodeCertificateRequest(bytes), base64, object: undefined }
    })
  })
}

function objectInputs(file: ManifestFile): Input[] {
  return documentsOf(file).flatMap((document): Input[] => {
    if (document.kind === 'error') return [{ where: file.path, kind: 'unreadable', message: document.message }]
    return itemsOf(document.value).map((object) => {
      const where = `${file.path}: ${object.metadata?.name ?? 'CertificateSigningRequest'}`
      return guarded(where, () => {
        const base64 = typeof object.spec?.request === 'string' ? object.spec.request : ''
        return { where, kind: 'request', request: readSigningRequest(base64), base64, object }
      })
    })
  })
}

/** The CertificateSigningRequests of a document, which may be a list. */
function itemsOf(value: unknown): RequestObject[] {
  if (typeof value !== 'object' || value === null) return []
  const object = value as RequestObject & { readonly items?: unknown }
  if (Array.isArray(object.items)) return object.items.flatMap(itemsOf)
  return object.kind === 'CertificateSigningRequest' ? [object] : []
}

function guarded(where: string, read: () => Input): Input {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error
    return { where, kind: 'unreadable', message: error.message }
  }
}
