import { hexText } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'

/** Texts in the status of containers. */

/** A duration as messages print it: `10s`, `2m40s`. */
export function backoffText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.trunc(seconds / 60)
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`
}

/** Returns a digest for the image: equal for equal names, as if a registry had the image. */
export function imageID(image: string): string {
  return `${repositoryOf(image)}@sha256:${hexText(digest('sha256', [image]))}`
}

/** Returns the image without tag and digest. No regular expression anchored at the end: it would take quadratic time. */
function repositoryOf(image: string): string {
  const lastPart = image.slice(image.lastIndexOf('/') + 1)
  const tagAt = lastPart.search(/[:@]/)
  return tagAt < 0 ? image : image.slice(0, tagAt - lastPart.length)
}
