const bytesPerMegabyte = 1_000_000

/** A size as text: `12 MB`. */
export function megabytes(bytes: number): string {
  return `${Math.floor(bytes / bytesPerMegabyte)} MB`
}
